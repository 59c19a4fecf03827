from __future__ import annotations

import os
import signal
import socket
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
    assert rank.wait(timeout=60) == 1
    assert time.monotonic() - begin < 20
    psutil.wait_procs([worker], timeout=20)
    assert not worker.is_running()
    assert rank.stderr is not None
    assert rank.stderr.read() == "the launcher is gone: leaving\n"


def test_a_rank_does_not_start_without_its_launcher(launcher: subprocess.Popen[bytes]) -> None:
    launcher.kill()
    launcher.wait()
    assert start_rank(launcher.pid).wait(timeout=20) == 1


@pytest.fixture
def handlers_restored() -> Iterator[None]:
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


@pytest.mark.usefixtures("handlers_restored")
def test_sigterm_only_sets_a_flag() -> None:
    stop = StopRequest()
    assert not stop.is_requested
    os.kill(os.getpid(), signal.SIGTERM)
    assert stop.is_requested


LATE = """
import builtins, os, signal
from training.maskrcnn.guard import StopRequest
stop = StopRequest()
class Last:
    # Python's last moments: its own handlers are gone by then.
    def __del__(self): os.kill(os.getpid(), signal.SIGTERM)
builtins.last = Last()
stop.close()
raise SystemExit(75)
"""


def test_a_sigterm_in_the_last_moments_changes_no_exit_code() -> None:
    command = [sys.executable, "-c", LATE]
    assert subprocess.run(command, cwd=ROOT, check=False, timeout=60).returncode == 75
    # Without it the test would show nothing.
    command[-1] = LATE.replace("stop.close()", "")
    assert subprocess.run(command, cwd=ROOT, check=False, timeout=60).returncode == -signal.SIGTERM


INTERRUPTED = """
import sys, time
from training.maskrcnn.guard import StopRequest
stop = StopRequest()
print(stop.is_requested, flush=True)
sys.stdin.readline()
print(stop.is_requested, flush=True)
time.sleep(60)
"""


def test_the_first_ctrl_c_only_sets_a_flag_and_the_second_ends_the_process() -> None:
    with subprocess.Popen(
        [sys.executable, "-c", INTERRUPTED],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as rank:
        assert rank.stdout is not None
        assert rank.stdin is not None
        assert rank.stderr is not None
        assert rank.stdout.readline() == "False\n"
        rank.send_signal(signal.SIGINT)
        assert "leaves after the step at hand, with a checkpoint" in rank.stderr.readline()
        rank.stdin.write("\n")
        rank.stdin.flush()
        assert rank.stdout.readline() == "True\n"
        rank.send_signal(signal.SIGINT)
        # Which a shell shows as 130.
        assert rank.wait(timeout=10) == -signal.SIGINT
        assert rank.stderr.read() == ""


@pytest.mark.usefixtures("handlers_restored")
def test_an_interrupt_that_the_command_was_started_to_ignore_stays_ignored() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    StopRequest()
    assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN


@pytest.mark.usefixtures("handlers_restored")
def test_a_time_limit_sets_the_flag_by_itself() -> None:
    stop = StopRequest(max_run_s=0.2)
    assert not stop.is_requested
    time.sleep(0.5)
    assert stop.is_requested
    assert stop.is_final


WORKER = """
import os, socket, sys, time
from training.maskrcnn.guard import follow_rank
connection = socket.create_connection(("127.0.0.1", int(sys.argv[1])))
child = os.fork()
if child == 0:
    follow_rank()
    print(os.getpid(), flush=True)
    time.sleep(60)
sys.stdin.read(1)
connection.close()
time.sleep(60)
"""


def test_a_worker_ends_with_its_rank_and_does_not_hold_its_connections() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        rank = subprocess.Popen(
            [sys.executable, "-c", WORKER, str(server.getsockname()[1])],
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        peer, _ = server.accept()
        assert rank.stdout is not None
        assert rank.stdin is not None
        worker = psutil.Process(int(rank.stdout.readline()))
        rank.stdin.close()
        peer.settimeout(10)
        assert peer.recv(1) == b"", "closed by the rank, and by nobody else"
        assert worker.is_running()
        rank.kill()
        rank.wait()
        psutil.wait_procs([worker], timeout=5)
        assert not worker.is_running()
