"""Which picture each rank sees in each step.

Training reads one endless stream: the data in a new random order, again and again. Whenever the
ranks load a batch they take the next pictures of it together, each its slice; a step that
accumulates gradients does so several times. So no batch is uneven, every rank has the same number
of steps, every picture comes once in each pass (or as often as `repeat_threshold` wants), and the
whole position is one number: the pictures that were taken. N ranks, or N batches that are
accumulated, and one rank with an N times larger batch see the same in a step.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

from training.maskrcnn.data.order import Passes


class Draw(NamedTuple):
    """One picture to load."""

    record: int
    """Its place in the data."""
    data_pass: int
    """How often the whole data came before."""
    copy: int = 0
    """How often the picture came before in this pass."""


class StreamSampler:
    """The batches of one rank, from a position of the stream on, without end."""

    def __init__(
        self, passes: Passes, *, rank: int, size: int, batch_size: int, position: int = 0
    ) -> None:
        """Args:
        batch_size: Pictures of one rank at a time.
        position: Pictures that all ranks together have taken, of which there may have been
            another number.
        """
        self._length = len(passes)
        # A batch may reach into the next pass.
        self._order = lru_cache(maxsize=2)(passes.order)
        self._rank = rank
        self._size = size
        self._batch_size = batch_size
        self._position = position

    def __iter__(self) -> Iterator[list[Draw]]:
        begin = self._position + self._rank * self._batch_size
        while True:
            yield [self._draw(begin + offset) for offset in range(self._batch_size)]
            begin += self._size * self._batch_size

    def _draw(self, position: int) -> Draw:
        data_pass, place = divmod(position, self._length)
        order = self._order(data_pass)
        return Draw(int(order.records[place]), data_pass, int(order.copies[place]))
