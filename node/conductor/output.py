"""output.log: what the job's head prints, and what the conductor says of it."""

from __future__ import annotations

import threading
import time
from pathlib import Path


class Output:
    """Appends lines; any thread may. A full disk never stops the job."""

    def __init__(self, path: Path) -> None:
        self._file = path.open("ab", buffering=0)
        self._lock = threading.Lock()
        self.last_line_at = time.monotonic()

    def line(self, text: str) -> None:
        """Take a line of the job's own."""
        self.last_line_at = time.monotonic()
        self._write(text)

    def say(self, text: str) -> None:
        stamp = time.strftime("%Y-%m-%d %H:%M:%S", time.gmtime())
        self._write(f"conductor: {stamp}: {text}")

    def _write(self, text: str) -> None:
        with self._lock:
            try:
                self._file.write(text.encode("utf-8", "replace") + b"\n")
            except OSError:
                return
