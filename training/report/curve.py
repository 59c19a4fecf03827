"""A curve of bounded size: any number of samples goes in, at most `limit` points come out."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

LIMIT = 500
"""More points than this are finer than a chart's pixels."""


@dataclass
class Point:
    """The mean of neighbouring samples, with their range."""

    x: float
    """Of the last sample in it."""
    mean: float
    low: float
    high: float
    samples: int = 1

    def take(self, x: float, y: float) -> None:
        """Take in the sample that follows."""
        self.samples += 1
        self.mean += (y - self.mean) / self.samples
        self.x = x
        if y < self.low:
            self.low = y
        elif y > self.high:
            self.high = y

    def absorb(self, other: Point) -> None:
        """Take in the point that follows."""
        samples = self.samples + other.samples
        self.mean += (other.mean - self.mean) * (other.samples / samples)
        self.x = other.x
        self.low = min(self.low, other.low)
        self.high = max(self.high, other.high)
        self.samples = samples


class Curve:
    """Samples in the order of x, thinned as they come.

    Each point holds up to `samples_per_point` samples. When there are `limit` points, neighbours
    are joined and that number doubles, so that memory does not grow with the length of a job.
    """

    def __init__(self, limit: int = LIMIT) -> None:
        self._limit = limit
        self._points: list[Point] = []
        self.samples_per_point = 1

    def add(self, x: float, y: float) -> None:
        """Append a finite sample."""
        if self._points and self._points[-1].samples < self.samples_per_point:
            self._points[-1].take(x, y)
            return
        if len(self._points) == self._limit:
            self._halve()
        self._points.append(Point(x, y, y, y))

    def rewind(self, x: float) -> None:
        """Forget what lies at or after x: a job that resumed does those steps again."""
        while self._points and self._points[-1].x >= x:
            self._points.pop()

    @property
    def points(self) -> tuple[Point, ...]:
        return tuple(self._points)

    @property
    def mean(self) -> float:
        """The mean of all samples; the curve must have one."""
        samples = sum(point.samples for point in self._points)
        return sum(point.mean * point.samples for point in self._points) / samples

    def __len__(self) -> int:
        return len(self._points)

    def __iter__(self) -> Iterator[Point]:
        return iter(self._points)

    def _halve(self) -> None:
        for left, right in zip(self._points[::2], self._points[1::2], strict=False):
            left.absorb(right)
        self._points = self._points[::2]
        self.samples_per_point *= 2
