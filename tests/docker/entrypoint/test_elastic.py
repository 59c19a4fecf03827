"""`elastic` and `host`: what horovodrun is given, and how a job is judged that it ran.

With the real horovodrun, trainer and hosts that come and go: tests/node/conductor/.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from entrypoint.elastic_settings import (
    ElasticHead,
    Listed,
    read_elastic_head,
    read_elastic_host,
    read_listed,
)
from entrypoint.errors import EntrypointError
from entrypoint.horovodrun import (
    HorovodrunFiles,
    horovodrun_command,
    horovodrun_environment,
    settled_variables,
)
from entrypoint.output import LAUNCHER
from entrypoint.ssh_client import Worker
from entrypoint.tagged_output import TaggedOutput

ROOT = Path(__file__).parents[3]
SOCKETS = f"/tmp/mask-rcnn-test-{os.getpid()}"
"""Short, as a socket's path must be."""
KEY = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIB"
HEAD = ElasticHead("10.0.0.1", "/run/hosts.json", "/run/key", "/run/mask-rcnn-1", True, 8, 24, 660)
WORKER = Worker("10.0.0.2", "10.0.0.2", 40001, "root", KEY, "10.0.0.1")


def test_the_whole_command_of_horovodrun() -> None:
    argv = horovodrun_command(HEAD, "/opt/venv/bin/horovodrun", "/run/bin/hosts", "ens5", ["rank"])
    assert argv == [
        *(sys.executable, "/opt/venv/bin/horovodrun", "-np", "8", "--min-np", "8"),
        *("--max-np", "24", "--elastic-timeout", "660", "--blacklist-cooldown-range", "5", "60"),
        *("--host-discovery-script", "/run/bin/hosts", "--gloo", "--network-interfaces", "ens5"),
        "rank",
    ]


def test_horovodrun_gets_no_variable_of_the_user() -> None:
    environ = {"PATH": "/usr/bin", "HOME": "/root", "NAME": "$(touch /tmp/x)", "A B": "1"}
    assert horovodrun_environment(environ, HEAD, "/run/bin") == {
        "PATH": "/run/bin:/usr/bin",
        "HOME": "/root",
        "PYTHONUNBUFFERED": "1",
        "MASK_RCNN_RANK_SOCKETS": "/run/mask-rcnn-1",
    }
    assert settled_variables("ens32") == {
        "HOROVOD_GLOO_IFACE": "ens32",
        "NCCL_SOCKET_IFNAME": "ens32",
    }


def test_horovods_ssh_obeys_our_configuration(tmp_path: Path) -> None:
    real = tmp_path / "real-ssh"
    real.write_text('#!/bin/sh\nfor word in "$@"; do echo "$word"; done\n')
    real.chmod(0o755)
    files = HorovodrunFiles(str(tmp_path), "/run/key", str(real))
    ssh = f"{files.programs}/ssh"
    # As horovod/runner/util/remote.py puts it together.
    options = ["-o", "PasswordAuthentication=no", "-o", "StrictHostKeyChecking=no"]
    said = subprocess.run(
        [ssh, *options, "10.0.0.2", "cd / ; env A='b c' x"], check=True, capture_output=True
    )
    assert said.stdout.decode().splitlines() == [
        *("-F", f"{tmp_path}/ssh_config", "10.0.0.2", "cd / ; env A='b c' x")
    ]
    other = subprocess.run([ssh, "10.0.0.2", "true"], check=False, capture_output=True)
    assert (other.returncode, other.stdout) == (255, b"")


def test_the_list_of_hosts_is_what_the_discovery_script_prints(tmp_path: Path) -> None:
    files = HorovodrunFiles(str(tmp_path), "/run/key", "/usr/bin/ssh")

    def printed() -> str:
        return subprocess.run([files.discovery], check=True, capture_output=True, text=True).stdout

    assert printed() == ""
    files.update(Listed(["10.0.0.1:8", "10.0.0.2:8"], [WORKER]))
    assert printed() == "10.0.0.1:8\n10.0.0.2:8\n"
    assert (tmp_path / "known_hosts").read_text() == f"10.0.0.2 {KEY}\n"
    config = (tmp_path / "ssh_config").read_text()
    assert "Host 10.0.0.2\n  HostName 10.0.0.2\n  Port 40001\n  User root\n" in config
    assert "  StrictHostKeyChecking yes\n" in config
    files.update(Listed([], []))
    assert (printed(), (tmp_path / "known_hosts").read_text()) == ("", "")


def test_output_is_told_apart_by_rank() -> None:
    taken: list[tuple[int, bytes]] = []
    tagged = TaggedOutput(lambda rank, line: taken.append((rank, line)))
    for piece in (b"[0]<stdout>:step", b" 1\n[12]<std", b"err>:\xffoh\nProcess 1 exit\n", b"last"):
        tagged.take(LAUNCHER, piece)
    tagged.close()
    assert taken == [
        (0, b"step 1\n"),
        (12, b"\xffoh\n"),
        (LAUNCHER, b"Process 1 exit\n"),
        (LAUNCHER, b"last\n"),
    ]


def write(path: Path, document: Any) -> str:
    path.write_text(json.dumps(document))
    return str(path)


def test_settings_and_hosts_are_read(tmp_path: Path) -> None:
    path = write(tmp_path / "elastic.json", HEAD._asdict())
    assert read_elastic_head(path) == HEAD
    entry = {"host": "10.0.0.2", "slots": 8, **WORKER._asdict()}
    hosts = write(tmp_path / "hosts", {"hosts": [{"host": "10.0.0.1", "slots": 4}, entry]})
    assert read_listed(hosts, "10.0.0.1") == Listed(["10.0.0.1:4", "10.0.0.2:8"], [WORKER])


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"address": "10.0.0.1 x"}, "address: '10.0.0.1 x'; expected"),
        ({"sockets": "/run/a b"}, "sockets: '/run/a b'; expected"),
        ({"least_processes": 0}, "least_processes: 0; expected a whole number from 1"),
        ({"least_processes": 25}, "no more than most_processes, 24"),
        ({"identity": None}, "identity: None; expected a text"),
    ],
)
def test_a_setting_that_cannot_be_is_named(
    tmp_path: Path, changes: dict[str, Any], said: str
) -> None:
    path = write(tmp_path / "elastic.json", {**HEAD._asdict(), **changes})
    with pytest.raises(EntrypointError) as refused:
        read_elastic_head(path)
    assert said in str(refused.value)
    assert path in str(refused.value)


@pytest.mark.parametrize(
    "changes",
    [
        {"host_key": "ssh-ed25519 AAAA\n* x"},
        {"user": "root\nHost *"},
        {"port": 70000},
        {"address": "10.0.0.2\n"},
        {"slots": "8"},
    ],
)
def test_a_host_that_cannot_go_into_sshs_files_is_refused(
    tmp_path: Path, changes: dict[str, Any]
) -> None:
    entry = {"host": "10.0.0.2", "slots": 8, **WORKER._asdict(), **changes}
    with pytest.raises(EntrypointError):
        read_listed(write(tmp_path / "hosts", {"hosts": [entry]}), "10.0.0.1")


def test_a_host_is_told_where_the_head_is(tmp_path: Path) -> None:
    told = {"address": "10.0.0.2", "head_address": "10.0.0.1", "sockets": "/run/x"}
    host = read_elastic_host(write(tmp_path / "elastic.json", {**told, "head_key": f"{KEY} name"}))
    assert (host.address, host.head_address, host.head_key) == ("10.0.0.2", "10.0.0.1", KEY)


# Whole jobs; horovodrun is a small program

ADAPTER = """
import json, os, sys
STOPS_WITH_CHECKPOINT = True
def prepare(job): pass
def command(job): return [sys.executable, "-c", os.environ.get("RANK", "")]
def environment(job): return {"LOG": job.log}
def model_files(job):
    path = os.path.join(job.log, "model.pt")
    return [path] if os.path.exists(path) else []
def outcome(job):
    path = os.path.join(job.log, "outcome.json")
    return json.load(open(path)) if os.path.exists(path) else None
"""


class Machine:
    """The files of one host, and its entry point."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        for name in ("image", "programs", "data", "log", "ml/input/config"):
            (folder / name).mkdir(parents=True)
        shutil.copytree(ROOT / "docker" / "entrypoint", folder / "image" / "entrypoint")
        (folder / "image" / "algorithm").write_text("horovod\n")
        (folder / "image" / "adapter.py").write_text(ADAPTER)
        (folder / "data" / "picture").touch()
        config = folder / "ml" / "input" / "config"
        resources = {"hosts": ["127.0.0.1"], "current_host": "127.0.0.1"}
        write(config / "resourceconfig.json", {**resources, "network_interface_name": "lo"})
        write(config / "hyperparameters.json", {})

    def start(
        self, command: str, told: dict[str, Any], horovodrun: str = "", **variables: str
    ) -> subprocess.Popen[str]:
        (self.folder / "programs" / "horovodrun").write_text(horovodrun)
        (self.folder / "programs" / "horovodrun").chmod(0o755)
        told = {"address": "127.0.0.1", "sockets": SOCKETS, **told}
        write(self.folder / "ml" / "input" / "config" / "elastic.json", told)
        return subprocess.Popen(
            [sys.executable, str(self.folder / "image" / "entrypoint"), command],
            env={
                "PATH": f"{self.folder / 'programs'}:{os.environ['PATH']}",
                "MASK_RCNN_ML_ROOT": str(self.folder / "ml"),
                "MASK_RCNN_ALGORITHM": "horovod",
                "MASK_RCNN_DISTRIBUTION": "elastic",
                "MASK_RCNN_PROCESSES_PER_HOST": "1",
                "MASK_RCNN_DATA": str(self.folder / "data"),
                "MASK_RCNN_LOG": str(self.folder / "log"),
                "MASK_RCNN_PLATFORM": "ec2",
                "MASK_RCNN_TIMING": json.dumps({"grace_s": 5}),
                "LOG": str(self.folder / "log"),
                **variables,
            },
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def head(self, horovodrun: str, hosts: Any = None) -> subprocess.Popen[str]:
        hosts = {"hosts": [{"host": "127.0.0.1", "slots": 1}]} if hosts is None else hosts
        told = {
            "hosts": write(self.folder / "hosts.json", hosts),
            "identity": "/none",
            "takes_part": True,
            "least_processes": 1,
            "most_processes": 2,
            "wait_s": 9,
        }
        return self.start("elastic", told, f"import json, os, sys, time, subprocess\n{horovodrun}")


@pytest.fixture
def machine(tmp_path: Path) -> Iterator[Machine]:
    yield Machine(tmp_path)
    shutil.rmtree(SOCKETS, ignore_errors=True)


OUTCOME = "json.dump({'status': %r, 'step': 5, 'message': 'why'}, open(LOG + '/outcome.json', 'w'))"


@pytest.mark.parametrize(
    ("status", "code", "model", "expected", "said"),
    [
        ("completed", 0, True, 0, "completed"),
        ("completed", 0, False, 1, "but left no model"),
        ("completed", 1, True, 1, "horovodrun ended with exit code 1"),
        # Too few hosts for too long: horovodrun ends with 0.
        (None, 0, True, 1, "horovodrun ended with exit code 0; the trainer left no word"),
        ("failed", 1, False, 1, "horovodrun ended with exit code 1: why"),
        ("checkpointed", 0, False, 75, "with a checkpoint at step 5"),
        ("checkpointed", 1, False, 75, "with a checkpoint at step 5"),
    ],
)
def test_a_job_is_judged_by_horovodrun_and_the_trainer(
    machine: Machine, *, status: str | None, code: int, model: bool, expected: int, said: str
) -> None:
    if model:
        (machine.folder / "log" / "model.pt").touch()
    outcome = OUTCOME.replace("LOG", repr(str(machine.folder / "log"))) % status if status else ""
    head = machine.head(f"{outcome}\nprint('[1]<stdout>:hello')\nsys.exit({code})")
    printed, log = head.communicate(timeout=60)
    assert (head.returncode, printed) == (expected, "[rank 1] hello\n")
    assert said in log
    assert (machine.folder / "log" / "rank-1.log").read_text() == "hello\n"
    job = json.loads((machine.folder / "log" / "job.json").read_text())
    assert (job["platform"], job["world_size"]) == ("ec2", 2)
    failure = machine.folder / "ml" / "output" / "failure"
    assert failure.exists() == (expected == 1)


def test_a_list_that_is_none_changes_nothing(machine: Machine) -> None:
    head = machine.head("time.sleep(1)\nsys.exit(1)", hosts={"hosts": [{"host": "a b"}]})
    _, log = head.communicate(timeout=60)
    assert log.count("the list of hosts stays as it is") == 1


RUN_A_RANK = """
words = sys.argv[sys.argv.index("--network-interfaces") + 2:]
names = {"HOROVOD_HOSTNAME": "127.0.0.1", "HOROVOD_RANK": "0", "HOROVOD_GLOO_IFACE": "of-head"}
sys.exit(subprocess.call(words, env={**os.environ, **names}))
"""


def test_a_rank_takes_its_order_from_its_own_host(machine: Machine) -> None:
    rank = "import os; print([os.environ.get(n) for n in ('HOROVOD_GLOO_IFACE','USERS','LOG')])"
    told_by_user = {"RANK": rank, "USERS": "$(touch /tmp/x)"}
    machine.head("").communicate(timeout=60)
    told = json.loads((machine.folder / "ml/input/config/elastic.json").read_text())
    text = f"import os, sys, subprocess\n{RUN_A_RANK}"
    head = machine.start("elastic", told, text, **told_by_user)
    head.communicate(timeout=60)
    said = (machine.folder / "log" / "launcher.log").read_text()
    assert said == f"['lo', '$(touch /tmp/x)', '{machine.folder}/log']\n"


def test_sigterm_to_the_head_reaches_its_ranks(machine: Machine) -> None:
    rank = "import signal, sys, time; signal.signal(15, lambda *_: sys.exit(75)); print('up');"
    machine.head("").communicate(timeout=60)
    told = json.loads((machine.folder / "ml/input/config/elastic.json").read_text())
    text = f"import os, sys, subprocess\n{RUN_A_RANK}"
    head = machine.start("elastic", told, text, RANK=f"{rank} time.sleep(60)")
    launcher = machine.folder / "log" / "launcher.log"
    deadline = time.monotonic() + 30
    while "up" not in launcher.read_text():
        assert time.monotonic() < deadline
        time.sleep(0.05)
    head.send_signal(signal.SIGTERM)
    _, log = head.communicate(timeout=30)
    assert head.returncode == 143, log
    assert "stopped: horovodrun ended with exit code 0" in log


def test_a_host_serves_until_it_is_asked_to_leave(machine: Machine, tmp_path: Path) -> None:
    key = tmp_path / "key"
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(key)], check=True)
    told = {"head_address": "127.0.0.1", "head_key": key.with_suffix(".pub").read_text().strip()}
    rank = "import os; print(os.environ['HOROVOD_GLOO_IFACE'], flush=True); raise SystemExit(75)"
    host = machine.start("host", told, RANK=rank)
    assert host.stdout is not None
    ready = json.loads(host.stdout.readline())
    worker = Worker(
        *("127.0.0.1", "127.0.0.1", ready["port"], ready["user"], ready["host_key"], "127.0.0.1")
    )
    (tmp_path / "ssh").mkdir()
    files = HorovodrunFiles(str(tmp_path / "ssh"), str(key), "/usr/bin/ssh")
    files.update(Listed(["127.0.0.1:1"], [worker]))
    options = ["-o", "PasswordAuthentication=no", "-o", "StrictHostKeyChecking=no"]
    variables = f"MASK_RCNN_RANK_SOCKETS={SOCKETS} HOROVOD_HOSTNAME=127.0.0.1 HOROVOD_RANK=3"
    program = f"{sys.executable} {machine.folder / 'image' / 'entrypoint'} rank"
    done = subprocess.run(
        [f"{files.programs}/ssh", *options, "127.0.0.1", f"env {variables} {program}"],
        check=False,
        capture_output=True,
        text=True,
    )
    # A checkpoint is no failure for horovodrun.
    assert (done.returncode, done.stdout) == (0, "lo\n"), done.stderr
    host.send_signal(signal.SIGTERM)
    _, log = host.communicate(timeout=30)
    assert host.returncode == 0
    assert "rank 3 ended with exit code 75" in log
