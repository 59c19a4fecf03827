"""Puts the lines of several hosts in one order while they come."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace


@dataclass(frozen=True)
class Line:
    """One line of one host."""

    time_ms: int
    """Milliseconds since 1970."""
    host: str
    """As SageMaker names it: `algo-1`, …"""
    text: str


class Weave:
    """Orders lines by time; those of one host stay in the order in which they came.

    A host's lines reach CloudWatch some seconds late, each host's with a delay of its own. So a
    line waits for one more look at all streams before it is shown, unless there is only one host.
    """

    def __init__(self, *, hosts: int) -> None:
        self._waits = hosts > 1
        self._held: list[Line] = []
        self._latest_ms: dict[str, int] = {}
        self._shown_until_ms: int | None = None

    def add(self, lines: Sequence[Line], *, whole_until_ms: int) -> list[Line]:
        """Take lines of one stream, in its order; return those that can be shown.

        Args:
            lines: They follow those of the same stream that were given before.
            whole_until_ms: All lines from before that time were given, of every stream.
        """
        self._held.extend(map(self._in_order, lines))
        self._held.sort(key=lambda line: line.time_ms)
        return self._take(whole_until_ms - 1)

    def settle(self) -> list[Line]:
        """End one look at all streams; return the lines that were there at the look before."""
        if not self._waits:
            return self.rest()
        ready = [] if self._shown_until_ms is None else self._take(self._shown_until_ms)
        self._shown_until_ms = self._held[-1].time_ms if self._held else None
        return ready

    def rest(self) -> list[Line]:
        """Return all that is left."""
        rest, self._held = self._held, []
        return rest

    def _in_order(self, line: Line) -> Line:
        """Return a line that is not earlier than its host's line before, as clocks may have it."""
        time_ms = max(line.time_ms, self._latest_ms.get(line.host, line.time_ms))
        self._latest_ms[line.host] = time_ms
        return replace(line, time_ms=time_ms)

    def _take(self, until_ms: int) -> list[Line]:
        ready = [line for line in self._held if line.time_ms <= until_ms]
        self._held = self._held[len(ready) :]
        return ready
