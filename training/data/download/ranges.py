"""Ranges of bytes: which are there, and which to fetch next."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence

Range = tuple[int, int]
"""The first byte and the one behind the last."""


class Ranges:
    """A set of bytes, kept as ranges that are in order, not empty, and do not touch."""

    def __init__(self, ranges: Iterable[Range] = ()) -> None:
        self._starts: list[int] = []
        self._ends: list[int] = []
        for start, end in ranges:
            self.add(start, end)

    def __iter__(self) -> Iterator[Range]:
        return iter(list(zip(self._starts, self._ends, strict=True)))

    def total(self) -> int:
        return sum(self._ends) - sum(self._starts)

    def clear(self) -> None:
        self._starts.clear()
        self._ends.clear()

    def add(self, start: int, end: int) -> int:
        """Add a range and return how many of its bytes are new."""
        if start >= end:
            return 0
        new = sum(stop - begin for begin, stop in self.missing(start, end))
        first, last = bisect_left(self._ends, start), bisect_right(self._starts, end)
        if first < last:
            start, end = min(start, self._starts[first]), max(end, self._ends[last - 1])
        self._starts[first:last], self._ends[first:last] = [start], [end]
        return new

    def remove(self, start: int, end: int) -> None:
        """Take the bytes of a range out."""
        if start >= end:
            return
        first, last = bisect_right(self._ends, start), bisect_left(self._starts, end)
        if first >= last:
            return
        left, right = (self._starts[first], start), (end, self._ends[last - 1])
        rest = [part for part in (left, right) if part[0] < part[1]]
        self._starts[first:last] = [part[0] for part in rest]
        self._ends[first:last] = [part[1] for part in rest]

    def covers(self, start: int, end: int) -> bool:
        if start >= end:
            return True
        at = bisect_right(self._starts, start) - 1
        return at >= 0 and self._ends[at] >= end

    def missing(self, start: int, end: int) -> Iterator[Range]:
        """Yield, in order, the parts of a range that are not in the set."""
        at = bisect_right(self._ends, start)
        while start < end:
            if at == len(self._starts) or self._starts[at] >= end:
                yield start, end
                return
            if self._starts[at] > start:
                yield start, self._starts[at]
            start = self._ends[at]
            at += 1


def next_range(
    wanted: Sequence[Range], goals: Sequence[Range], taken: Ranges, piece_bytes: int
) -> Range | None:
    """Return what to fetch next, or None where all is taken.

    Args:
        wanted: What somebody waits for, which goes first.
        goals: All that is to be fetched; `wanted` may reach out of it.
        taken: What is there or on its way.
        piece_bytes: The most to return; a wanted range is grown to it inside its goal, so that
            many small waits do not become many small requests.
    """
    for start, end in wanted:
        for begin, stop in taken.missing(start, end):
            goal_end = max((last for first, last in goals if first <= begin < last), default=stop)
            grown = next(taken.missing(begin, max(goal_end, stop)))
            return begin, min(grown[1], begin + piece_bytes)
    for start, end in goals:
        for begin, stop in taken.missing(start, end):
            return begin, min(stop, begin + piece_bytes)
    return None
