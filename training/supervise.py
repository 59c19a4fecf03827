"""Runs a command with everything that it starts, and leaves no process behind.

`horovodrun` starts each rank in a session of its own, so that a process group is not enough: this
process becomes the subreaper of all its descendants (prctl(2)), and whatever is left at the end is
found among its children and killed.
"""

from __future__ import annotations

import ctypes
import os
import queue
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from enum import Enum
from pathlib import Path

import psutil

from training import stop_signals

_PR_SET_CHILD_SUBREAPER = 36
_POLL_S = 0.2


class Stop(Enum):
    """Why a run was asked to stop before its end."""

    SIGNAL = "a signal"
    TIME_LIMIT = "its time limit"
    LOST_RANK = "a lost rank"


@dataclass(frozen=True)
class Run:
    """How a command ended."""

    returncode: int
    """As `subprocess` has it: negative for a signal."""
    stopped: Stop | None


@dataclass(frozen=True, kw_only=True)
class Limits:
    """When a run is stopped, in seconds."""

    run_s: float
    """The workers are asked to stop (SIGTERM) after it."""
    grace_s: float = 30
    """Time between asking and killing: a checkpoint is written in it."""
    lost_rank_s: float | None = 15
    """A worker is gone while others run on: time until all are killed. None: they may run on."""


def run(
    argv: Sequence[str],
    *,
    env: Mapping[str, str],
    cwd: Path,
    limits: Limits,
    is_worker: Callable[[Sequence[str]], bool],
    workers: int,
    on_line: Callable[[str], None],
) -> Run:
    """Run a command to its end and pass on its output, line by line.

    SIGINT and SIGTERM to this process ask the workers to stop; a second one kills them.

    Args:
        argv: The command; no shell reads it.
        env: The whole environment.
        cwd: Where it runs.
        limits: When it is stopped.
        is_worker: Whether a command line is that of a worker, which saves its state on SIGTERM.
        workers: How many workers the command starts.
        on_line: Takes each line of stdout and stderr, without its line end.
    """
    _become_subreaper()
    with stop_signals.collected() as asked:
        process = subprocess.Popen(
            argv,
            env=dict(env),
            cwd=cwd,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
            text=True,
            encoding="utf-8",
            errors="replace",
        )
        lines = _Lines(process)
        watch = _Watch(process, limits, is_worker, workers)
        try:
            while process.poll() is None:
                lines.pass_on(on_line, timeout_s=_POLL_S)
                watch.look(len(asked))
        finally:
            kill_descendants(process)
            process.wait()
        lines.drain(on_line)
    return Run(process.returncode, watch.stopped)


def kill_descendants(command: subprocess.Popen[str]) -> None:
    """Kill every process below this one, and wait until they are gone.

    Args:
        command: The process that was started here. It is left for its owner to wait for, since
            whoever waits first takes its exit code.
    """
    deadline = time.monotonic() + 10
    while time.monotonic() < deadline:
        running = [child for child in _descendants() if not _reap(child, command)]
        if not running:
            return
        for child in running:
            with _gone():
                child.kill()
        time.sleep(0.02)


def _descendants() -> list[psutil.Process]:
    return psutil.Process().children(recursive=True)


def _reap(child: psutil.Process, command: subprocess.Popen[str]) -> bool:
    """Whether a process has ended; one that was adopted from a dead parent is waited for."""
    try:
        if child.status() != psutil.STATUS_ZOMBIE:
            return False
        if child.pid != command.pid and child.ppid() == os.getpid():
            os.waitpid(child.pid, os.WNOHANG)
    except (psutil.NoSuchProcess, ChildProcessError):
        return True
    return True


class _Watch:
    """Decides when a run is to be stopped, and stops it."""

    def __init__(
        self,
        process: subprocess.Popen[str],
        limits: Limits,
        is_worker: Callable[[Sequence[str]], bool],
        workers: int,
    ) -> None:
        self.stopped: Stop | None = None
        self._process = process
        self._limits = limits
        self._is_worker = is_worker
        self._workers = workers
        self._deadline = time.monotonic() + limits.run_s
        self._kill_at: float | None = None
        self._all_started = False
        self._next_count = 0.0

    def look(self, signals: int) -> None:
        """Look once; `signals` is how many times this process was asked to stop."""
        now = time.monotonic()
        if self._kill_at is not None and now > self._kill_at:
            self.stopped = self.stopped or Stop.LOST_RANK
            kill_descendants(self._process)
        elif signals > 1:
            self.stopped = self.stopped or Stop.SIGNAL
            kill_descendants(self._process)
        elif signals == 1 and self.stopped is None:
            self._ask(Stop.SIGNAL)
        elif now > self._deadline and self.stopped is None:
            self._ask(Stop.TIME_LIMIT)
        elif self._limits.lost_rank_s is not None and now > self._next_count and not self.stopped:
            self._next_count = now + 1
            self._count(now, self._limits.lost_rank_s)

    def _ask(self, why: Stop) -> None:
        self.stopped = why
        workers = self._find_workers()
        for worker in workers:
            with _gone():
                worker.send_signal(signal.SIGTERM)
        # With no worker there is nothing to save.
        self._kill_at = time.monotonic() + (self._limits.grace_s if workers else 0)

    def _count(self, now: float, lost_rank_s: float) -> None:
        """Notice a lost worker although the command that started it has not."""
        running = len(self._find_workers())
        if running >= self._workers:
            self._all_started = True
        elif self._all_started and running and self._kill_at is None:
            self._kill_at = now + lost_rank_s

    def _find_workers(self) -> list[psutil.Process]:
        found = {}
        for child in _descendants():
            with _gone():
                if child.status() != psutil.STATUS_ZOMBIE and self._is_worker(child.cmdline()):
                    found[child.pid] = child
        # What a worker forks has its command line too.
        return [child for child in found.values() if _parent_of(child) not in found]


class _Lines:
    """Reads a process's output in a thread, so that waiting for a line can time out."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._queue: queue.SimpleQueue[str] = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._read, args=(process,), daemon=True)
        self._thread.start()

    def pass_on(self, on_line: Callable[[str], None], *, timeout_s: float) -> None:
        try:
            on_line(self._queue.get(timeout=timeout_s))
            while True:
                on_line(self._queue.get_nowait())
        except queue.Empty:
            return

    def drain(self, on_line: Callable[[str], None]) -> None:
        self._thread.join(timeout=5)
        self.pass_on(on_line, timeout_s=0.01)

    def _read(self, process: subprocess.Popen[str]) -> None:
        assert process.stdout is not None
        for line in process.stdout:
            self._queue.put(line.rstrip("\n"))


def _parent_of(process: psutil.Process) -> int | None:
    try:
        return process.ppid()
    except psutil.NoSuchProcess:
        return None


@contextmanager
def _gone() -> Iterator[None]:
    """Let a process end while it is looked at."""
    try:
        yield
    except psutil.NoSuchProcess:
        return


def _become_subreaper() -> None:
    if ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) != 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
