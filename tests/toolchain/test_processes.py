"""Commands are logged, their failures shown, and nothing outlives an interruption."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from toolchain.errors import SetupError
from toolchain.processes import run

PROJECT = Path(__file__).parents[2]


def test_output_goes_to_the_log_and_to_progress(tmp_path: Path) -> None:
    shown: list[str] = []
    log = tmp_path / "folder" / "log"
    run(
        ["sh", "-c", "echo one; echo two >&2; echo $COLOUR"],
        log=log,
        progress=lambda text: shown.append(str(text)),
        advice="",
        env={"COLOUR": "red"},
    )
    assert shown == ["one", "two", "red"]
    assert log.read_text().splitlines()[1:] == ["one", "two", "red"]


def test_failure_shows_exit_code_last_lines_and_where_the_rest_is(tmp_path: Path) -> None:
    with pytest.raises(SetupError) as caught:
        run(
            ["sh", "-c", "seq 100; exit 3"],
            log=tmp_path / "log",
            progress=lambda text: None,
            advice="Plug the cable in.",
        )
    message = str(caught.value)
    assert message.startswith("sh failed (exit code 3):\n  | 89\n")
    assert message.endswith(f"  | 100\nPlug the cable in.\nAll of its output: {tmp_path}/log")


def test_command_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(SetupError, match=r"no-such-command: cannot be started \(No such file"):
        run(["no-such-command"], log=tmp_path / "log", progress=lambda text: None, advice="")


STUBBORN = """
import os, signal, sys, time
signal.signal(signal.SIGINT, signal.SIG_IGN)
if sys.argv[1] == "ignores SIGTERM":
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
if os.fork() == 0:
    os.setsid()
    if os.fork():
        os._exit(0)
os.write(1, b"ready %d\\n" % os.getpid())
time.sleep(60)
"""
"""A process and a daemon that it detached, both deaf to Ctrl-C."""

PARENT = """
import sys
from pathlib import Path
from toolchain import processes
from toolchain.errors import Interrupted
processes.GRACE_S = 0.3
try:
    with processes.process_tree():
        processes.run(
            [sys.executable, "-c", sys.argv[1], sys.argv[2]],
            log=Path(sys.argv[3]), advice="", progress=lambda text: print(text, flush=True),
        )
except Interrupted as signal_name:
    sys.exit(f"interrupted by {signal_name}")
"""


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
@pytest.mark.parametrize("kind", ["ends on SIGTERM", "ignores SIGTERM"])
def test_interruption_ends_children_and_their_daemons(
    number: signal.Signals, kind: str, tmp_path: Path
) -> None:
    parent = subprocess.Popen(
        [sys.executable, "-c", PARENT, STUBBORN, kind, tmp_path / "log"],
        cwd=PROJECT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert parent.stdout is not None
    pids = [int(parent.stdout.readline().split()[1]) for _ in range(2)]
    started = time.monotonic()
    parent.send_signal(number)
    _, errors = parent.communicate(timeout=60)
    assert errors.strip() == f"interrupted by {number.name}"
    assert time.monotonic() - started < 20
    for pid in pids:
        with pytest.raises(ProcessLookupError):
            os.kill(pid, 0)
