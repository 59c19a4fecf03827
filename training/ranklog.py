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

_TAG = re.compile(r"\[(?:\d+,)?(?P<rank>\d+)\]<std(?:out|err)>:")

LAST_LINES = 15
"""How many lines of a failed rank a message shows."""


@dataclass(frozen=True)
class Line:
    """One line of output; `rank` is None where the launcher of the processes wrote it."""

    rank: int | None
    text: str

    def tagged(self) -> str:
        return f"[rank {self.rank}] {self.text}"


def parse(line: str) -> list[Line]:
    """Parse one line without its line end.

    Over MPI what a rank writes in several pieces is tagged piece by piece, with those of another
    rank in between at times: pieces are put together by rank.
    """
    first, *tagged = _TAG.split(line)
    if not tagged:
        return [Line(None, line)]
    texts: dict[int, str] = {}
    for rank, piece in zip(tagged[::2], tagged[1::2], strict=True):
        texts[int(rank)] = texts.get(int(rank), "") + piece
    lines = [Line(rank, text) for rank, text in texts.items()]
    return [Line(None, first), *lines] if first else lines


class RankLogs:
    """Writes each rank's lines to its file, shows all of them, and remembers the last ones."""

    def __init__(self, log: LogChannel, world_size: int, show: Callable[[str], None]) -> None:
        self._show = show
        # Each rank's file is there from the start: one that says nothing is seen to say nothing.
        self._files: list[TextIO] = [
            log.rank(rank).open("a", encoding="utf-8", buffering=1) for rank in range(world_size)
        ]
        self._launcher = log.launcher.open("a", encoding="utf-8", buffering=1)
        self._last: dict[int | None, deque[str]] = {}

    def write(self, line: str) -> None:
        """Take one line of merged output."""
        for parsed in parse(line):
            self._last.setdefault(parsed.rank, deque(maxlen=LAST_LINES)).append(parsed.text)
            if parsed.rank is not None and parsed.rank < len(self._files):
                self._files[parsed.rank].write(parsed.text + "\n")
            if parsed.rank is None:
                # Kept, not shown: horovodrun ends in a traceback of its own even where a job was
                # stopped in good order. What failed is told at the end.
                self._launcher.write(parsed.text + "\n")
            else:
                self._show(parsed.tagged())

    def last(self, rank: int | None) -> list[str]:
        """Return the last lines of a rank, or with None of the launcher."""
        return list(self._last.get(rank, ()))

    def close(self) -> None:
        for file in (*self._files, self._launcher):
            file.close()
