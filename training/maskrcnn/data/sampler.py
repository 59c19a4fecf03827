"""Which picture each rank sees in each step.

Training reads one endless stream: the data in a new random order, again and again. A step takes
the next global batch of it, and each rank its slice. So no batch is uneven, every rank has the
same number of steps, every picture comes once in each pass, and the whole position is one number:
the pictures that were taken. N ranks and one rank with an N times larger batch see the same.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

SHARDS_TOGETHER = 8
"""Their pictures are mixed: a global batch is to have some of each."""


class Draw(NamedTuple):
    """One picture to load."""

    record: int
    """Its place in the data."""
    data_pass: int
    """How often the whole data came before."""


class StreamSampler:
    """The batches of one rank, from a position of the stream on, without end."""

    def __init__(
        self,
        *,
        pictures: int,
        seed: int,
        rank: int,
        size: int,
        batch_size: int,
        position: int = 0,
        shards: NDArray[np.int64] | None = None,
    ) -> None:
        """Args:
        pictures: How many pictures the data has.
        batch_size: Pictures of one rank in one step.
        position: Pictures that all ranks together have taken.
        shards: (pictures,) the shard of each picture, from 0, to read few shards at a time; None
            for an order without regard to them.
        """
        self._pictures = pictures
        self._order = lru_cache(maxsize=2)(
            lambda data_pass: _shuffle(np.random.default_rng([seed, data_pass]), pictures, shards)
        )
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
        data_pass, place = divmod(position, self._pictures)
        return Draw(int(self._order(data_pass)[place]), data_pass)


def _shuffle(
    random: np.random.Generator, pictures: int, shards: NDArray[np.int64] | None
) -> NDArray[np.int64]:
    """Return all pictures in a random order.

    By shard: the shards in a random order, and the pictures of a few of them mixed.
    """
    if shards is None:
        return random.permutation(pictures)
    place_of_shard = random.permutation(int(shards.max(initial=0)) + 1)
    order: NDArray[np.int64] = np.lexsort(
        (random.random(pictures), place_of_shard[shards] // SHARDS_TOGETHER)
    )
    return order
