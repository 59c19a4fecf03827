"""Reasons to stop that come from outside: SIGTERM, and a launcher that is gone."""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from types import FrameType

import psutil

LAUNCHER_VARIABLE = "MASK_RCNN_LAUNCHER_PID"
POLL_S = 0.5


class StopRequest:
    """Remembers SIGTERM, which a spot instance, a time limit or the user sends.

    The signal only sets a flag: the ranks agree on it at the end of a step, so that all stop after
    the same one.
    """

    def __init__(self) -> None:
        self.is_requested = False
        signal.signal(signal.SIGTERM, self._remember)

    def _remember(self, _: int, __: FrameType | None) -> None:
        self.is_requested = True


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
