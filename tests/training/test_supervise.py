"""A supervised command ends as told, and leaves no process behind.

Each case runs in a process of its own: supervising makes that process the reaper of all its
descendants, which a test runner should not become.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import psutil
import pytest

PROJECT = Path(__file__).resolve().parents[2]

DRIVER = """
import json, os, sys
from pathlib import Path
from training import supervise

case = json.loads(sys.argv[1])
lines = []
ended = supervise.run(
    case["argv"], env=os.environ, cwd=Path(case["cwd"]),
    limits=supervise.Limits(**case["limits"]),
    is_worker=lambda argv: "worker-mark" in argv, workers=case["workers"],
    on_line=lambda line: (lines.append(line), print(line, file=sys.stderr, flush=True)),
)
print(json.dumps({"returncode": ended.returncode,
                  "stopped": ended.stopped and ended.stopped.name, "lines": lines}))
"""

WORKER = """
import signal, sys, time
def leave(*_):
    print("saved", flush=True)
    sys.exit(75)
if "{mode}" == "polite":
    signal.signal(signal.SIGTERM, leave)
else:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
print("ready", flush=True)
time.sleep(60)
"""


def worker(mode: str = "polite") -> list[str]:
    return [sys.executable, "-c", WORKER.replace("{mode}", mode), "worker-mark"]


def start(
    argv: list[str], cwd: Path, workers: int = 1, **limits: float | None
) -> subprocess.Popen[str]:
    case = {
        "argv": argv,
        "cwd": str(cwd),
        "workers": workers,
        "limits": {"run_s": 60.0, **limits},
    }
    return subprocess.Popen(
        [sys.executable, "-c", DRIVER, json.dumps(case)],
        env={**os.environ, "PYTHONPATH": str(PROJECT)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def result(process: subprocess.Popen[str]) -> Mapping[str, Any]:
    stdout, _ = process.communicate(timeout=40)
    document: Mapping[str, Any] = json.loads(stdout)
    return document


def wait_for_line(process: subprocess.Popen[str], text: str) -> None:
    assert process.stderr is not None
    for line in process.stderr:
        if text in line:
            return
    raise AssertionError(f"{text} never came")


def processes_with(mark: str) -> list[int]:
    found = []
    for process in psutil.process_iter():
        try:
            if mark in " ".join(process.cmdline()):
                found.append(process.pid)
        except psutil.NoSuchProcess:
            continue
    return found


@pytest.mark.parametrize("code", [0, 1, 7])
def test_output_and_exit_code_are_those_of_the_command(tmp_path: Path, code: int) -> None:
    script = f"import sys; print('out'); print('err', file=sys.stderr); sys.exit({code})"
    ended = result(start([sys.executable, "-uc", script], tmp_path))
    assert ended == {"returncode": code, "stopped": None, "lines": ["out", "err"]}


def test_a_process_in_another_session_is_killed_when_the_command_ends(tmp_path: Path) -> None:
    mark = f"orphan-{os.getpid()}-{time.time_ns()}"
    orphan = [sys.executable, "-c", "import time; time.sleep(60)", mark]
    script = f"import subprocess; subprocess.Popen({orphan!r}, start_new_session=True)"
    assert result(start([sys.executable, "-c", script], tmp_path))["returncode"] == 0
    assert processes_with(mark) == []


def test_a_signal_asks_the_workers_and_waits_for_them(tmp_path: Path) -> None:
    process = start(worker(), tmp_path)
    wait_for_line(process, "ready")
    process.send_signal(signal.SIGINT)
    ended = result(process)
    assert ended["returncode"] == 75
    assert ended["stopped"] == "SIGNAL"
    assert ended["lines"] == ["ready", "saved"]


def test_a_worker_that_does_not_leave_is_killed_after_the_grace(tmp_path: Path) -> None:
    process = start(worker("rude"), tmp_path, grace_s=1.0)
    wait_for_line(process, "ready")
    process.terminate()
    assert result(process)["returncode"] == -signal.SIGKILL


def test_a_second_signal_kills_at_once(tmp_path: Path) -> None:
    process = start(worker("rude"), tmp_path, grace_s=50.0)
    wait_for_line(process, "ready")
    process.send_signal(signal.SIGINT)
    time.sleep(0.5)
    process.send_signal(signal.SIGINT)
    began = time.monotonic()
    ended = result(process)
    assert (ended["returncode"], ended["stopped"]) == (-signal.SIGKILL, "SIGNAL")
    assert time.monotonic() - began < 20


def test_two_signals_at_once_are_a_stop_too(tmp_path: Path) -> None:
    process = start(worker("rude"), tmp_path, grace_s=50.0)
    wait_for_line(process, "ready")
    process.send_signal(signal.SIGTERM)
    process.send_signal(signal.SIGINT)
    assert result(process)["stopped"] == "SIGNAL"


def test_a_signal_before_any_worker_kills_at_once(tmp_path: Path) -> None:
    script = "import time; print('ready', flush=True); time.sleep(60)"
    process = start([sys.executable, "-c", script], tmp_path)
    wait_for_line(process, "ready")
    process.send_signal(signal.SIGINT)
    ended = result(process)
    assert ended["returncode"] == -signal.SIGKILL
    assert ended["stopped"] == "SIGNAL"


def test_the_time_limit_asks_the_workers(tmp_path: Path) -> None:
    ended = result(start(worker(), tmp_path, run_s=2.0))
    assert ended["stopped"] == "TIME_LIMIT"
    assert ended["returncode"] == 75
    assert ended["lines"][-1] == "saved"


def test_a_lost_worker_ends_the_others_even_if_their_starter_waits(tmp_path: Path) -> None:
    argv = worker()
    script = (
        "import subprocess, time\n"
        f"a = subprocess.Popen({argv!r})\nb = subprocess.Popen({argv!r})\n"
        "time.sleep(3)\na.kill()\nb.wait()\ntime.sleep(60)"
    )
    ended = result(start([sys.executable, "-c", script], tmp_path, workers=2, lost_rank_s=1.0))
    assert ended["stopped"] == "LOST_RANK"
    assert ended["returncode"] == -signal.SIGKILL


def test_a_lost_worker_is_no_reason_to_end_the_others_of_an_elastic_job(tmp_path: Path) -> None:
    argv = worker()
    script = (
        "import subprocess, time\n"
        f"a = subprocess.Popen({argv!r})\nb = subprocess.Popen({argv!r})\n"
        "time.sleep(2)\na.kill()\ntime.sleep(3)\nb.terminate()\nraise SystemExit(b.wait())"
    )
    ended = result(start([sys.executable, "-c", script], tmp_path, workers=2, lost_rank_s=None))
    assert ended["stopped"] is None
    assert ended["returncode"] == 75


def test_what_a_worker_forks_is_no_worker(tmp_path: Path) -> None:
    """A fork has its parent's command line: counted, it would hide that a worker is lost."""
    code = (
        "import ctypes, os, time\n"
        "if os.fork() == 0:\n    ctypes.CDLL(None).prctl(1, 9)  # dies with its parent\n"
        "time.sleep(60)"
    )
    forking = [sys.executable, "-c", code, "worker-mark"]
    script = (
        "import subprocess, time\n"
        f"a = subprocess.Popen({forking!r})\nb = subprocess.Popen({forking!r})\n"
        "time.sleep(3)\na.kill()\nb.wait()\ntime.sleep(60)"
    )
    ended = result(start([sys.executable, "-c", script], tmp_path, workers=2, lost_rank_s=1.0))
    assert ended["stopped"] == "LOST_RANK"
