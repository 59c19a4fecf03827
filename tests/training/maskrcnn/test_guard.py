from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from training.maskrcnn.guard import StopRequest

ROOT = Path(__file__).parents[3]

RANK = """
import subprocess, time
from training.maskrcnn.guard import watch_launcher
watch_launcher()
worker = subprocess.Popen(["sleep", "60"])
print(worker.pid, flush=True)
time.sleep(60)
"""


@pytest.fixture
def launcher() -> Iterator[subprocess.Popen[bytes]]:
    process = subprocess.Popen(["sleep", "60"])
    yield process
    process.kill()
    process.wait()


def start_rank(launcher_pid: int) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", RANK],
        cwd=ROOT,
        env={**os.environ, "MASK_RCNN_LAUNCHER_PID": str(launcher_pid)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def test_a_rank_leaves_with_its_workers_when_the_launcher_is_killed(
    launcher: subprocess.Popen[bytes],
) -> None:
    rank = start_rank(launcher.pid)
    assert rank.stdout is not None
    worker = psutil.Process(int(rank.stdout.readline()))
    assert rank.poll() is None
    launcher.kill()  # Not waited for: it stays as a zombie.
    begin = time.monotonic()
    assert rank.wait(timeout=10) == 1
    assert time.monotonic() - begin < 4
    psutil.wait_procs([worker], timeout=2)
    assert not worker.is_running()
    assert rank.stderr is not None
    assert rank.stderr.read() == "the launcher is gone: leaving\n"


def test_a_rank_does_not_start_without_its_launcher(launcher: subprocess.Popen[bytes]) -> None:
    launcher.kill()
    launcher.wait()
    assert start_rank(launcher.pid).wait(timeout=20) == 1


def test_sigterm_only_sets_a_flag() -> None:
    before = signal.getsignal(signal.SIGTERM)
    try:
        stop = StopRequest()
        assert not stop.is_requested
        os.kill(os.getpid(), signal.SIGTERM)
        assert stop.is_requested
    finally:
        signal.signal(signal.SIGTERM, before)
