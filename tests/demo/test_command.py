"""What the demo refuses before it starts anything, and that nothing outlives it."""

from __future__ import annotations

import fcntl
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

from demo import command
from demo.command import check_machine, only_one
from demo.place import PROJECT, Place
from training.errors import UsageError


def test_full_disk_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(command.machine, "RUN_BYTES", 1 << 60)
    with pytest.raises(UsageError, match=r"GiB free, .* GiB needed"):
        check_machine(Place(tmp_path))


def test_missing_set_up_is_refused_with_what_to_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(command, "CDK", tmp_path / "cdk")
    with pytest.raises(UsageError, match=r"/cdk: not there\. Run: make setup"):
        check_machine(Place(tmp_path))


def test_second_demo_in_the_same_folder_is_refused(tmp_path: Path) -> None:
    place = Place(tmp_path)
    with place.lock.open("a") as other:
        fcntl.flock(other, fcntl.LOCK_EX)
        with pytest.raises(UsageError, match="another demo runs in it"), only_one(place):
            pytest.fail("entered")
    with only_one(place):
        pass


def test_folder_that_cannot_be_made_is_one_clear_error(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with (
        pytest.raises(UsageError, match=r"cannot be written \(Not a directory\)"),
        only_one(Place(tmp_path / "file" / "demo")),
    ):
        pytest.fail("entered")


PROGRAM = """
import sys
from pathlib import Path
from demo import command
from demo.place import Place
from training.cli import run
folder = Path(sys.argv.pop(1))
command.Place = lambda: Place(folder)
run(command.app)
"""


def start(folder: Path, *arguments: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", PROGRAM, str(folder), *arguments],
        cwd=PROJECT,
        env={**os.environ, "AWS_PROFILE": "no-such-profile"},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def processes_naming(folder: Path) -> list[list[str]]:
    found: list[list[str]] = []
    for process in psutil.process_iter():
        try:
            line = process.cmdline()
        except psutil.Error:
            continue
        if process.pid != os.getpid() and any(str(folder) in word for word in line):
            found.append(line)
    return found


def test_port_that_is_taken_is_named_and_nothing_stays(tmp_path: Path) -> None:
    import socket

    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        demo = start(tmp_path / "demo", "--port", str(port))
        _, errors = demo.communicate(timeout=120)
    assert demo.returncode == 1
    assert f"{port}" in errors
    assert "Local AWS did not start." in errors
    assert "Traceback" not in errors
    assert processes_naming(tmp_path) == []


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_interruption_while_local_aws_runs_leaves_no_process(
    tmp_path: Path, number: signal.Signals
) -> None:
    folder = tmp_path / "demo"
    demo = start(folder)
    deadline = time.monotonic() + 120
    while not (folder / "logs" / "cdk.log").exists():
        assert time.monotonic() < deadline
        time.sleep(0.1)
    demo.send_signal(number)
    _, errors = demo.communicate(timeout=60)
    assert demo.returncode == 130
    assert "interrupted" in errors
    assert "run it again to go on" in errors
    assert processes_naming(tmp_path) == []
