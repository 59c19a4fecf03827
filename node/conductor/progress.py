"""What shows that a job gets on: its step, and the files that its trainer writes."""

from __future__ import annotations

import json
import os
import time
from typing import Any

from .output import Output
from .places import RunFolder

_TAIL_BYTES = 1 << 16


def last_step(run: RunFolder) -> int | None:
    """Return the last step in metrics.jsonl; a line that is being written is left out."""
    try:
        with run.metrics.open("rb") as file:
            file.seek(0, os.SEEK_END)
            file.seek(max(0, file.tell() - _TAIL_BYTES))
            lines = file.read().rpartition(b"\n")[0].splitlines()
    except OSError:
        return None
    for line in reversed(lines):
        try:
            step = json.loads(line)["step"]
        except (ValueError, KeyError, TypeError):
            continue
        if isinstance(step, int):
            return step
    return None


class Progress:
    """Notices that a job has stopped getting on.

    Our trainer shows by its files that it does: lines alone do not count, since Horovod warns of a
    rank that hangs every minute. Of other algorithms lines are all that is known.
    """

    def __init__(self, run: RunFolder, output: Output, *, by_files: bool) -> None:
        self._run = run
        self._output = output
        self._by_files = by_files
        self._seen: Any = None
        self._since = time.monotonic()

    def restart(self) -> None:
        """Begin anew: what starts has its time."""
        self._since = time.monotonic()

    def idle_s(self) -> float:
        """Return for how long nothing has shown that the job gets on."""
        seen = self._signature()
        if seen != self._seen:
            self._seen = seen
            self._since = time.monotonic()
        if not self._by_files:
            self._since = max(self._since, self._output.last_line_at)
        return time.monotonic() - self._since

    def _signature(self) -> list[tuple[str, int, int]]:
        found = []
        for folder in (self._run.root, self._run.root / "checkpoints"):
            try:
                entries = list(os.scandir(folder))
            except OSError:
                continue
            for entry in entries:
                if entry.name.endswith(".log") or entry.name == "conductor":
                    continue
                try:
                    status = entry.stat()
                except OSError:
                    continue
                found.append((entry.path, status.st_size, status.st_mtime_ns))
        return sorted(found)
