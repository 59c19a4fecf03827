"""Reasons to stop that come from outside: SIGTERM, Ctrl-C, and a launcher that is gone."""

from __future__ import annotations

import ctypes
import os
import signal
import sys
import threading
import time
from typing import Protocol

import psutil

from training.maskrcnn.connections import open_connections

LAUNCHER_VARIABLE = "MASK_RCNN_LAUNCHER_PID"
POLL_S = 0.5
INTERRUPTED = (
    "interrupted: leaves after the step at hand, with a checkpoint; Ctrl-C again ends it at once\n"
)
_PR_SET_PDEATHSIG = 1


class Stop(Protocol):
    """What the trainer asks in each step; the ranks agree, so that all stop after the same one."""

    @property
    def is_requested(self) -> bool:
        """Whether to stop training here, for whatever reason."""

    @property
    def is_final(self) -> bool:
        """Whether to end the run with a checkpoint, rather than to go on with other ranks."""


class StopRequest:
    """Remembers SIGTERM, which a spot instance, a time limit or the user sends, and Ctrl-C."""

    def __init__(self, *, max_run_s: float | None = None) -> None:
        """Args:
        max_run_s: Stop after so many seconds by itself.
        """
        self.is_requested = False
        signal.signal(signal.SIGTERM, self._remember)
        # Whoever starts a command in the background may have it ignore the terminal's Ctrl-C.
        if signal.getsignal(signal.SIGINT) is not signal.SIG_IGN:
            signal.signal(signal.SIGINT, self._remember_interrupt)
        if max_run_s is not None:
            timer = threading.Timer(max_run_s, self._remember)
            timer.daemon = True
            timer.start()

    @property
    def is_final(self) -> bool:
        return self.is_requested

    def close(self) -> None:
        """Heed SIGTERM no more: how this process ends is settled.

        Without this, Python goes back to the default in its last moments, and a request that comes
        then, since another host got it earlier, would make a saved run one that was killed.
        """
        signal.signal(signal.SIGTERM, signal.SIG_IGN)

    def _remember(self, *_: object) -> None:
        self.is_requested = True

    def _remember_interrupt(self, *_: object) -> None:
        """Remember the first one; the next ends the process, even one that waits inside torch."""
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        self._remember()
        # Not sys.stderr, which the handler may have interrupted.
        os.write(2, INTERRUPTED.encode())


def watch_launcher() -> None:
    """Leave when the launcher is gone, if it told its process id in MASK_RCNN_LAUNCHER_PID.

    A killed launcher cannot stop its ranks; on their own they would train, and cost, on.
    """
    text = os.environ.get(LAUNCHER_VARIABLE)
    if text is None:
        return
    try:
        launcher = psutil.Process(int(text))
    except psutil.NoSuchProcess:
        _leave()
        return
    threading.Thread(target=_watch, args=(launcher,), daemon=True).start()


def follow_rank() -> None:
    """Make this process, which a rank has forked, end with the rank, and let go of its connections.

    The other ranks see that a rank is gone, or has left a group, when its connections close: for
    that no other process may hold them.
    """
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    for descriptor in open_connections():
        os.close(descriptor)


def _watch(launcher: psutil.Process) -> None:
    while _is_alive(launcher):
        time.sleep(POLL_S)
    _leave()


def _is_alive(process: psutil.Process) -> bool:
    try:
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def _leave() -> None:
    """Exit at once, with the loader's workers: the other ranks may never answer again."""
    sys.stderr.write("the launcher is gone: leaving\n")
    sys.stderr.flush()
    for child in psutil.Process().children(recursive=True):
        child.kill()
    os._exit(1)
