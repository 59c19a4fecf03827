"""Registers this node again and again, for as long as it runs."""

from __future__ import annotations

import signal
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import FrameType

from .. import registrations
from ..bounded import Bounded
from ..errors import NodeError
from ..registrations import Registration
from .this_node import reason_to_leave

EVERY_S = 10
_LOOK_S = 0.5
"""How often it looks whether the node has to leave: that is to be known within 5 s."""
_WRITE_S = 5
_CLEAN_EVERY_S = 3600
KEEP_S = 24 * 3600
"""The head removes what was last written so long ago: of instances that are gone."""


class Loop:
    """Keeps one node's registration fresh until SIGTERM, then says that it leaves."""

    def __init__(self, folder: Path, node: Registration) -> None:
        self._folder = folder
        self._node = node
        self._bounded = Bounded()
        self._stopped = False
        self._problem = ""
        self._clean_at = 0.0

    def run(self, *, every_s: float = EVERY_S) -> None:
        signal.signal(signal.SIGTERM, self._stop)
        while not self._stopped:
            leaving = reason_to_leave()
            self._write(leaving)
            self._wait(every_s, leaving)
        self._write(reason_to_leave() or "its register service was stopped")

    def _stop(self, _signal: int, _frame: FrameType | None) -> None:
        self._stopped = True

    def _wait(self, seconds: float, leaving: str | None) -> None:
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline and not self._stopped and reason_to_leave() == leaving:
            time.sleep(_LOOK_S)

    def _write(self, leaving: str | None) -> None:
        node = replace(
            self._node,
            time=time.time(),
            state="ready" if leaving is None else "leaving",
            reason=leaving or "",
        )
        try:
            self._bounded.call(self._work(node), timeout_s=_WRITE_S)
        except NodeError as error:
            if str(error) != self._problem:
                _say(f"{self._folder}: {error}")
            self._problem = str(error)
            return
        if self._problem:
            _say(f"{self._folder}: can be written again")
        self._problem = ""

    def _work(self, node: Registration) -> Callable[[], None]:
        is_time_to_clean = node.role == "head" and time.monotonic() >= self._clean_at
        if is_time_to_clean:
            self._clean_at = time.monotonic() + _CLEAN_EVERY_S

        def work() -> None:
            registrations.write(self._folder, node)
            if is_time_to_clean:
                remove_old(self._folder, now=node.time)

        return work


def remove_old(folder: Path, *, now: float) -> None:
    """Remove the files of instances that have been gone for a day."""
    for file in folder.iterdir():
        try:
            if now - file.stat().st_mtime > KEEP_S:
                file.unlink()
        except FileNotFoundError:
            continue


def _say(text: str) -> None:
    sys.stderr.write(f"register: {text}\n")
    sys.stderr.flush()
