"""What keeps an instance from being a node: said once, clearly, to everybody, and in time."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.node.setup.equipment import give_keys, pci
from tests.node.setup.host import EFS_DNS, INSTANCE, SECRET, Host, Left

pytestmark = [
    pytest.mark.root,
    pytest.mark.skipif(os.geteuid() != 0, reason="makes namespaces and mounts"),
]


def short(tmp_path: Path) -> Host:
    """An instance whose set-up may take a few seconds only."""
    host = Host(tmp_path)
    host.config["setup_minutes"] = 0.15
    return host


def assert_refused(left: Left, reason: str) -> None:
    """Everybody is told, once."""
    text = f"the set-up of this node failed at {reason}"
    assert left.code == 1, left.printed
    assert text in left.log
    assert left.signals == ["FAILURE"]
    assert (left.share / "console").read_text().startswith(f"mask-rcnn: {text}")
    assert (left.share / "console").read_text().count("\n") == 1
    events = json.loads((left.share / "log-events.json").read_text())
    assert any(text in event["message"] for event in events)
    # A deployment that hears of the failure ends the instance: its log must be out by then.
    told = [call[2] for call in left.calls_of("aws") if call[1] in ("logs", "cloudformation")]
    assert told == ["create-log-stream", "put-log-events", "signal-resource"]
    assert left.calls_of("systemctl", "restart") == []


def no_name(host: Host) -> None:
    host.names = "127.0.0.1 localhost\n"


def no_port(host: Host) -> None:
    host.ports = ()


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (no_name, f"efs: EFS not mountable: fs-1 at /efs: the name {EFS_DNS} does not resolve"),
        (
            no_port,
            f"efs: EFS not mountable: fs-1 at /efs: port 2049 of {EFS_DNS} cannot be reached: "
            "Connection refused",
        ),
    ],
)
def test_efs_that_is_not_there_is_waited_for_and_named(
    change: Callable[[Host], None], reason: str, tmp_path: Path
) -> None:
    host = short(tmp_path)
    change(host)
    left = host.run()
    assert_refused(left, reason)
    assert "There must be a mount target in this zone" in left.log
    assert left.calls_of("mount") == []


def test_efs_that_refuses_is_named_with_what_mount_says(tmp_path: Path) -> None:
    left = short(tmp_path).run(mount_nfs4="fail")
    assert_refused(
        left, "efs: EFS not mountable: fs-1 at /efs: mount.nfs4: access denied by server"
    )


def test_a_mount_that_hangs_is_ended_in_time(tmp_path: Path) -> None:
    left = short(tmp_path).run(mount_nfs4="hang")
    assert_refused(left, "efs: it took longer than ")
    assert left.took_s < 40  # 9 s, and what a busy machine adds


def test_whoever_waits_is_told_although_even_a_look_at_the_mount_hangs(tmp_path: Path) -> None:
    host = short(tmp_path)
    host.programs["mountpoint"] = "exec sleep 1000"
    left = host.run()
    assert_refused(left, "efs: it took longer than ")
    assert left.took_s < 60  # 9 s, 5 for that look, and what a busy machine adds


def test_one_run_at_a_time_goes_to_the_log_group(tmp_path: Path) -> None:
    """AWS refuses events that are more than a day apart."""
    left = short(tmp_path).run(
        chronyc="late",
        before="mkdir -p /var/log/mask-rcnn; echo '2020-01-01T00:00:00Z old'"
        " >/var/log/mask-rcnn/setup.log",
    )
    assert_refused(left, "clock: clock not in sync")
    assert "2020-01-01" not in left.log
    events = json.loads((left.share / "log-events.json").read_text())
    assert min(event["timestamp"] for event in events) > 1.7e12
    assert (left.root / "var/log/mask-rcnn/setup.log.1").read_text().endswith(" old\n")


def test_a_clock_that_is_not_in_sync_is_named(tmp_path: Path) -> None:
    assert_refused(short(tmp_path).run(chronyc="late"), "clock: clock not in sync: neither chrony")


def test_gpus_without_a_driver_are_named(tmp_path: Path) -> None:
    host = short(tmp_path)
    pci(host, ("0x10de", "0x030200"), ("0x1d0f", "0x020000"))
    host.programs["nvidia-smi"] = "echo 'NVIDIA-SMI has failed'; exit 9"
    assert_refused(
        host.run(),
        "gpus: AMI without driver: this machine has 1 NVIDIA GPUs, and nvidia-smi ended with 9: "
        "NVIDIA-SMI has failed",
    )


def test_a_runtime_that_is_down_is_named_and_who_waits_for_the_node_is_told(tmp_path: Path) -> None:
    host = Host(tmp_path)
    give_keys(host)
    left = host.run(docker="down")
    reason = (
        "image: no container runtime: /usr/local/bin/docker is there and does not work: "
        "Cannot connect to the Docker daemon"
    )
    assert_refused(left, reason)
    assert ["systemctl", "start", "docker"] in left.calls
    registered = left.registration
    assert registered["instance_id"] == INSTANCE
    assert registered["state"] == "failed"
    assert registered["reason"] == f"the set-up of this node failed at {reason}"


def test_a_secret_that_is_not_readable_is_named(tmp_path: Path) -> None:
    host = Host(tmp_path, aws_faults={"get-secret-value": "refuse"})
    host.config["setup_minutes"] = 0.2
    assert_refused(
        host.run(),
        f"keys: secret {SECRET}: the secret is not readable: aws secretsmanager get-secret-value: "
        "An error occurred (AccessDeniedException)",
    )


def test_a_set_up_that_is_interrupted_says_so(tmp_path: Path) -> None:
    host = short(tmp_path)
    host.ports = ()
    log = "/var/log/mask-rcnn/setup.log"
    left = host.run(
        before=f"{{ (until grep -q 'clock is in sync' {log}; do sleep 0.1; done; sleep 1;"
        " kill -TERM $(pgrep -xof 'bash /opt/mask-rcnn/node/setup.sh')) 2>/dev/null & }"
    )
    assert left.code == 143
    assert "failed at efs: it was interrupted" in left.log
    assert left.signals == ["FAILURE"]


def test_what_user_data_wrote_wrong_is_named(tmp_path: Path) -> None:
    host = short(tmp_path)
    host.config["runs_in"] = "cloud"
    left = host.run()
    assert left.code == 1
    assert (left.share / "console").read_text() == (
        "mask-rcnn: the set-up of this node failed at read_config: /etc/mask-rcnn/node.json: "
        'runs_in: is "cloud", wanted image or environment\n'
    )
