"""In what order each pass over the data takes its pictures, and which of them more than once.

All of it follows from the seed and the number of the pass; neither ranks nor batches come into it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

SHARDS_TOGETHER = 8
"""Their pictures are mixed: a global batch is to have some of each."""
GROUP = 16
"""So many pictures of like proportions follow each other, however many a rank takes at a time: the
order must not depend on it. Batches of 1, 2, 4, 8 and 16 fit."""
GROUPS_TOGETHER = 16
"""Groups are made of as many pictures as fill so many. On COCO's proportions batches of 4 pictures
at 800 pixels are then 2% larger than their pictures, batches of 16 4%; without groups 41% and 69%,
and with groups by orientation alone, as torchvision's and Detectron2's, 10% and 17%."""

ROUNDING = 1e-6
"""What is taken for the error of a sum of fractions."""


class PassOrder(NamedTuple):
    """One pass over the data."""

    records: NDArray[np.int64]
    """(L,) places in the data."""
    copies: NDArray[np.int64]
    """(L,) which of its record's occurrences in this pass each is, from 0."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Passes:
    """The order of every pass. All of them have the same length."""

    pictures: int
    """P, how many pictures the data has."""
    seed: int
    shards: NDArray[np.int64] | None = None
    """(P,) the shard of each picture, from 0, to read few shards at a time; None for an order
    without regard to them."""
    aspects: NDArray[np.float64] | None = None
    """(P,) width over height, to put pictures of like proportions into one batch; None for an
    order without regard to it."""
    repeats: NDArray[np.float64] | None = None
    """(P,) at least 1: how often each picture comes in a pass, on average; None: once."""

    def __len__(self) -> int:
        """Return how many pictures a pass has, repeated ones counted as often as they come."""
        if self.repeats is None:
            return self.pictures
        whole, rest = _split(self.repeats)
        return int(whole.sum()) + _extra_count(rest)

    def order(self, data_pass: int) -> PassOrder:
        """Return the order of one pass; the first is 0."""
        random = np.random.default_rng([self.seed, data_pass])
        records = np.arange(self.pictures)
        copies = np.zeros(self.pictures, np.int64)
        if self.repeats is not None:
            counts = _round_at_random(random, self.repeats)
            records = np.repeat(records, counts)
            copies = np.arange(len(records)) - np.repeat(np.cumsum(counts) - counts, counts)
        places = _shuffle(
            random, len(records), None if self.shards is None else self.shards[records]
        )
        if self.aspects is not None:
            aspects = self.aspects[records[places]]
            places = places[_group(random, aspects, begin=data_pass * len(records))]
        return PassOrder(records[places], copies[places])


def _shuffle(
    random: np.random.Generator, count: int, shards: NDArray[np.int64] | None
) -> NDArray[np.int64]:
    """Return so many places in a random order.

    By shard: the shards in a random order, and the pictures of a few of them mixed.
    """
    if shards is None:
        return random.permutation(count)
    place_of_shard = random.permutation(int(shards.max(initial=0)) + 1)
    order: NDArray[np.int64] = np.lexsort(
        (random.random(count), place_of_shard[shards] // SHARDS_TOGETHER)
    )
    return order


def _group(
    random: np.random.Generator, aspects: NDArray[np.float64], *, begin: int
) -> NDArray[np.int64]:
    """Return the places of a shuffled pass with pictures of like proportions together.

    The pass is cut into windows; each is sorted and cut into groups, and the groups are shuffled.
    So a picture stays near its place, and proportions change from group to group.

    Args:
        aspects: (L,) in the order of the pass.
        begin: Where in the stream of all passes this one begins. Groups begin at multiples of
            their size, as batches do: pictures before the first multiple stay where they are.
    """
    lead = min(-begin % GROUP, len(aspects))
    places = np.arange(len(aspects) - lead)
    by_shape = lead + np.lexsort((aspects[lead:], places // (GROUP * GROUPS_TOGETHER)))
    groups = len(places) // GROUP
    order_of_groups = np.lexsort((random.random(groups), np.arange(groups) // GROUPS_TOGETHER))
    whole = by_shape[: groups * GROUP].reshape(groups, GROUP)[order_of_groups]
    return np.concatenate([np.arange(lead), whole.ravel(), by_shape[groups * GROUP :]])


def _round_at_random(random: np.random.Generator, values: NDArray[np.float64]) -> NDArray[np.int64]:
    """Round each value up or down, up with the chance of its fraction; the sum is always the same.

    The fractions are laid in a row in a random order, and points at distances of 1 fall on those
    that are rounded up (systematic sampling).
    """
    whole, rest = _split(values)
    extra = _extra_count(rest)
    if not extra:
        return whole
    row = random.permutation(len(rest))
    ends = np.cumsum(rest[row])
    # A little stretched, so that as many points fall on the row wherever the first one is.
    points = (np.arange(extra) + random.random()) * (ends[-1] / extra)
    hit = np.minimum(np.searchsorted(ends, points, side="right"), len(row) - 1)
    whole[row[hit]] += 1
    return whole


def _split(values: NDArray[np.float64]) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    whole = np.floor(values).astype(np.int64)
    return whole, values - whole


def _extra_count(rest: NDArray[np.float64]) -> int:
    """Return how many fractions are rounded up: their sum, rounded down.

    Not more than that, since points closer than 1 could fall on one fraction twice.
    """
    return int(rest.sum() + ROUNDING)
