"""What `host-run` tells the conductor, and how it is ended before there is anything to save."""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
from contextlib import suppress
from typing import Any

from .order import EVENT

STOPPED = 143
"""Exit code of a part that had not begun."""


class Printer:
    """Prints lines, one at a time; a reader that is gone changes nothing."""

    def __init__(self) -> None:
        self._lock = threading.Lock()

    def line(self, line: bytes) -> None:
        try:
            with self._lock:
                sys.stdout.buffer.write(line)
                sys.stdout.buffer.flush()
        except (OSError, ValueError):
            return

    def say(self, text: str) -> None:
        self.line(f"node: {text}\n".encode())

    def event(self, kind: str, **values: Any) -> None:
        self.line((EVENT + json.dumps({"kind": kind, **values}) + "\n").encode())


class Preparation:
    """The time before the container runs: a copy of data or of an image may take an hour, and
    there is nothing to save in it."""

    def __init__(self, printer: Printer) -> None:
        self._printer = printer
        self._lock = threading.Lock()
        self._is_over = False
        with suppress(OSError):
            # What is started here is in one group with this process.
            os.setpgrp()

    def end(self) -> None:
        with self._lock:
            self._is_over = True

    def abort(self) -> None:
        """End this process and all that it has started, if it still prepares."""
        with self._lock:
            if not self._is_over:
                reason = "stopped before it had started"
                self._printer.event("ended", code=STOPPED, failure=reason)
                os.killpg(os.getpgrp(), signal.SIGKILL)
