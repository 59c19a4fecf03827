"""The set-up on a fresh instance, with real SSH, a real register and real mounts of folders."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from tests.node.setup.equipment import disks, give_keys, pci
from tests.node.setup.host import EFS_DNS, FSX_DNS, HERE, INSTANCE, METADATA, Host, Left

pytestmark = [
    pytest.mark.root,
    pytest.mark.skipif(os.geteuid() != 0, reason="makes namespaces and mounts"),
]

EFS = [
    *("mount", "-t", "nfs4", "-o"),
    "nfsvers=4.1,rsize=1048576,wsize=1048576,hard,timeo=600,retrans=2,noresvport",
    *(f"{EFS_DNS}:/", "/efs"),
]
SSH = "ssh -F /etc/mask-rcnn/ssh/config 127.0.0.1"
STATE = (
    "find /etc /opt/mask-rcnn/bin /opt/mask-rcnn/src /var/lib/mask-rcnn /efs/mask-rcnn"
    " ! -path '*/nodes*' -printf '%p %m %s %T@ %l\\n' | sort; cat /run/*.pid"
)
"""What a second run must leave as it is: files, modes, moments, and the processes of services."""


def assert_ready(left: Left, *signals: str) -> None:
    assert left.code == 0, left.printed
    assert "ERROR" not in left.log
    assert left.signals == list(signals)


def test_a_fresh_head_becomes_ready_and_a_second_run_changes_nothing(tmp_path: Path) -> None:
    host = Host(tmp_path)
    host.metadata["local-ipv4"] = "10.0.0.5"
    again = (
        f"{STATE} >/share/before; echo >>/share/calls again;"
        f" bash /opt/mask-rcnn/node/setup.sh >/share/again.log; {STATE} >/share/after"
    )
    strict = "ssh -p 2222 -o BatchMode=yes -o StrictHostKeyChecking=yes -o IdentitiesOnly=yes"
    login = (
        f"{SSH} 'id -un' >/share/login; ssh-keygen -q -t ed25519 -N '' -f /run/other;"
        f" {strict} -o UserKnownHostsFile=/dev/null -i /etc/mask-rcnn/ssh/user_key 127.0.0.1 true"
        f" 2>/share/unknown; {strict} -o UserKnownHostsFile=/etc/mask-rcnn/ssh/known_hosts"
        f" -i /run/other 127.0.0.1 true 2>/share/other-key; true"
    )
    verify = (
        "! command -v systemd-analyze || systemd-analyze verify /etc/systemd/system/mask-rcnn-*"
        " >/share/verify 2>&1"
    )
    left = host.run(after=f"{again}; {login}; {verify}")

    assert_ready(left, "SUCCESS")
    share = left.share

    # Once, and in this order.
    first = left.calls[: left.calls.index(["again"])]
    told = [call for call in first if call[0] in ("mount", "aws")]
    assert [call[:3] for call in told] == [
        ["mount", "-t", "nfs4"],
        ["aws", "secretsmanager", "get-secret-value"],
        ["aws", "secretsmanager", "put-secret-value"],
        ["aws", "secretsmanager", "get-secret-value"],
        ["aws", "cloudformation", "signal-resource"],
        ["aws", "logs", "create-log-stream"],
        ["aws", "logs", "put-log-events"],
    ]
    assert told[0] == EFS
    assert told[4] == [
        *("aws", "cloudformation", "signal-resource", "--stack-name", "ClusterStack"),
        *("--logical-resource-id", "HeadGroup", "--unique-id", INSTANCE, "--status", "SUCCESS"),
    ]

    # Registered.
    registered = left.registration
    assert registered.pop("time") > 1e9
    assert registered.pop("state") in ("ready", "leaving")  # by now the machine is gone
    registered.pop("reason")
    assert registered == {
        "instance_id": INSTANCE,
        "role": "head",
        "address": "10.0.0.5",
        "slots": 0,
        "instance_type": "m6i.xlarge",
        "zone": "eu-central-1a",
    }

    # Reachable, with the host's key known and no other key let in.
    assert (share / "login").read_text() == "root\n"
    assert "Host key verification failed" in (share / "unknown").read_text()
    assert "Permission denied (publickey)" in (share / "other-key").read_text()
    assert (left.root / "var/log/mask-rcnn/mask-rcnn-sshd.service.log").read_text().count(
        "Accepted publickey for root"
    ) == 1

    # Its units are as systemd wants them.
    verified = share / "verify"
    assert not verified.exists() or "mask-rcnn" not in verified.read_text()

    # No private key where others see it.
    keys = json.loads((share / "secret.json").read_text())
    seen = left.printed + left.log + json.dumps(left.calls)
    for name in ("user_private", "host_private"):
        assert keys[name].splitlines()[1] not in seen
        assert (
            keys[name]
            == (left.root / "etc/mask-rcnn/ssh" / name.replace("_private", "_key")).read_text()
        )

    # Its log is where one looks for it.
    events = json.loads((share / "log-events.json").read_text())
    assert any("this node is ready" in event["message"] for event in events)
    assert left.calls_of("aws", "logs", "create-log-stream")[0][4:7] == [
        "/mask-rcnn/vision",
        "--log-stream-name",
        f"{INSTANCE}/setup",
    ]

    # The second run.
    assert (share / "after").read_text() == (share / "before").read_text()
    second = left.calls[left.calls.index(["again"]) + 1 :]
    assert [call for call in second if call[0] in ("mount", "systemctl")] == [
        ["systemctl", "is-enabled", "--quiet", "mask-rcnn-setup.service"],
        ["systemctl", "start", "mask-rcnn-sshd", "mask-rcnn-register", "mask-rcnn-spot"],
    ]
    assert [call[2] for call in second if call[0] == "aws"] == [
        "get-secret-value",
        "create-log-stream",
        "put-log-events",
    ]
    assert "/efs: mounted already" in (share / "again.log").read_text()


def test_a_worker_with_gpus_registers_them_and_leaves_when_spot_takes_it(tmp_path: Path) -> None:
    host = Host(tmp_path)
    host.config.update(role="worker", resource="WorkerGroup")
    pci(host, ("0x10de", "0x030200"), ("0x10de", "0x030200"), ("0x10de", "0x068000"))
    host.programs["nvidia-smi"] = "source /usr/local/bin/record\nprintf 'GPU 0: A\\nGPU 1: A\\n'"
    host.programs["nvidia-ctk"] = "true"
    give_keys(host)
    notice = {**METADATA, "spot/instance-action": '{"action": "terminate", "time": "T"}'}
    (host.share / "notice.json").write_text(json.dumps(notice))
    file = f"/efs/mask-rcnn/clusters/vision/nodes/{INSTANCE}.json"
    watch = (
        f"cat {file} >/share/before; cp /share/notice.json /share/metadata.json; SECONDS=0;"
        f" until grep -q leaving {file}; do ((SECONDS < 20)) || break; sleep 0.1; done;"
        f" echo $SECONDS >/share/seconds; cat {file} >/share/after"
    )
    left = host.run(after=watch)

    assert_ready(left, "SUCCESS")
    before = json.loads((left.share / "before").read_text())
    assert (before["role"], before["slots"], before["state"]) == ("worker", 2, "ready")
    after = json.loads((left.share / "after").read_text())
    assert (after["state"], after["reason"]) == ("leaving", "spot interruption: terminate at T")
    assert int((left.share / "seconds").read_text()) <= 5
    assert ["nvidia-smi", "--persistence-mode=1"] in left.calls
    assert left.calls_of("aws", "secretsmanager", "put-secret-value") == []
    assert left.calls_of("aws", "cloudformation")[0][5:7] == [
        "--logical-resource-id",
        "WorkerGroup",
    ]


def test_a_head_with_everything_has_its_address_fsx_disks_and_an_environment(
    tmp_path: Path,
) -> None:
    host = Host(tmp_path)
    environment = tmp_path / "venv/bin"
    environment.mkdir(parents=True)
    (environment / "python").write_text("#!/bin/bash\n")
    (environment / "python").chmod(0o755)
    host.config.update(
        fsx={"id": "fs-2", "dns": FSX_DNS, "mount_name": "abcdefgh", "mount": "/fsx"},
        elastic_ip_allocation="eipalloc-1",
        runs_in="environment",
        environment=str(environment.parent),
    )
    disks(host, "nvme1n1", "nvme2n1")
    record = "source /usr/local/bin/record"
    for name in ("mdadm", "mkfs.xfs"):
        host.programs[name] = record
    host.programs["blkid"] = f"{record}\nexit 2"
    layout = "cd /opt/mask-rcnn; readlink venv entrypoint adapter.py src/training; cat algorithm"
    left = host.run(after=f"({layout}) >/share/layout")

    assert_ready(left, "SUCCESS")
    assert left.calls_of("aws", "ec2") == [
        [
            *("aws", "ec2", "associate-address", "--allocation-id", "eipalloc-1"),
            *("--network-interface-id", "eni-1", "--allow-reassociation"),
        ]
    ]
    assert left.calls_of("mount") == [
        EFS,
        ["mount", "-t", "lustre", "-o", "relatime,flock", f"{FSX_DNS}@tcp:/abcdefgh", "/fsx"],
        ["mount", "-o", "noatime", "/dev/md/scratch", "/scratch"],
    ]
    assert left.calls_of("mdadm") == [
        [
            *("mdadm", "--create", "/dev/md/scratch", "--level=0", "--raid-devices=2"),
            *("--name=scratch", "--force", "--run", "/dev/nvme1n1", "/dev/nvme2n1"),
        ]
    ]
    assert left.calls_of("mkfs.xfs") == [
        ["mkfs.xfs", "-f", "-q", "-L", "mrcnnscratch", "/dev/md/scratch"]
    ]
    assert left.calls_of("docker") == []
    assert (left.share / "layout").read_text().splitlines() == [
        str(environment.parent),
        "/opt/mask-rcnn/docker/entrypoint",
        "/opt/mask-rcnn/docker/horovod/adapter.py",
        "/opt/mask-rcnn/training",
        "horovod",
    ]


def test_a_head_that_comes_second_takes_the_firsts_keys_and_needs_no_deployment_that_waits(
    tmp_path: Path,
) -> None:
    faults = {"put-secret-value": "first-of-another-head", "signal-resource": "refuse"}
    host = Host(tmp_path, aws_faults=faults)
    give_keys(host, "other.json")
    left = host.run()
    assert left.code == 0, left.printed
    of_the_other = json.loads((left.share / "other.json").read_text())
    ssh = left.root / "etc/mask-rcnn/ssh"
    assert (ssh / "user_key").read_text() == of_the_other["user_private"]
    assert (ssh / "host_key").read_text() == of_the_other["host_private"]
    assert len(left.calls_of("aws", "secretsmanager", "put-secret-value")) == 1
    assert "CloudFormation took no signal, as when no deployment waits: An error" in left.log


def test_jobs_that_are_not_finished_go_on_even_if_their_unit_starts_late(tmp_path: Path) -> None:
    host = Host(tmp_path)
    late = (
        'if [[ "$1" == --no-block && ! -e /run/late ]]; then touch /run/late; exit 1; fi\n'
        + (HERE / "fakes/systemctl").read_text()
    )
    host.programs["systemctl"] = late
    share = host.share / "nfs4"
    (index := share / "mask-rcnn/clusters/vision/jobs").mkdir(parents=True)
    for name, state in (("done", "completed"), ("begun", "running")):
        (index / f"{name}.json").write_text(json.dumps({"run": f"/efs/log/log-{name}"}))
        (run := share / f"log/log-{name}/conductor").mkdir(parents=True)
        document = {"name": name, "algorithm": "horovod", "run": f"/efs/log/log-{name}"}
        document |= {"created": "2026-01-01T00:00:00Z", "state": state}
        (run / "state.json").write_text(json.dumps(document))
    left = host.run()
    assert left.code == 0, left.printed
    assert "attempt 1 to resume the jobs failed" in left.log
    assert '{"resumed": ["begun"]}' in left.log
    assert left.calls_of("systemctl", "--no-block") == [
        ["systemctl", "--no-block", "start", "mask-rcnn-job@begun.service"]
    ]
