"""Reads the merged output of `horovodrun` and keeps it by rank.

Horovod tags each line with its rank, `[1]<stdout>:text` over Gloo and `[1,1]<stdout>:text` over
MPI (job, rank).
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import TextIO

from training.layout import LogChannel

_TAGGED = re.compile(r"^\[(?:\d+,)?(?P<rank>\d+)\]<(?P<stream>stdout|stderr)>:(?P<text>.*)$")

LAST_LINES = 15
"""How many lines of a failed rank a message shows."""


@dataclass(frozen=True)
class Line:
    """One line of output; `rank` is None where the launcher of the processes wrote it."""

    rank: int | None
    text: str

    def tagged(self) -> str:
        return f"[launcher] {self.text}" if self.rank is None else f"[rank {self.rank}] {self.text}"


def parse(line: str) -> Line:
    """Parse one line without its line end."""
    match = _TAGGED.match(line)
    if match is None:
        return Line(None, line)
    return Line(int(match["rank"]), match["text"])


class RankLogs:
    """Writes each rank's lines to its file, shows all of them, and remembers the last ones."""

    def __init__(self, log: LogChannel, show: Callable[[str], None]) -> None:
        self._log = log
        self._show = show
        self._files: dict[int, TextIO] = {}
        self._last: dict[int | None, deque[str]] = {}

    def write(self, line: str) -> None:
        """Take one line of merged output."""
        parsed = parse(line)
        self._last.setdefault(parsed.rank, deque(maxlen=LAST_LINES)).append(parsed.text)
        if parsed.rank is not None:
            file = self._files.get(parsed.rank)
            if file is None:
                file = self._log.rank(parsed.rank).open("a", encoding="utf-8", buffering=1)
                self._files[parsed.rank] = file
            file.write(parsed.text + "\n")
        self._show(parsed.tagged())

    def last(self, rank: int | None) -> list[str]:
        """Return the last lines of a rank, or with None of the launcher."""
        return list(self._last.get(rank, ()))

    def close(self) -> None:
        for file in self._files.values():
            file.close()
