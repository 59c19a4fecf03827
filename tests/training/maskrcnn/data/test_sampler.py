from __future__ import annotations

from itertools import islice
from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from training.maskrcnn.data.order import Passes
from training.maskrcnn.data.sampler import Draw, StreamSampler


def draws(
    steps: int,
    *,
    pictures: int,
    size: int = 1,
    batch_size: int = 1,
    seed: int = 0,
    position: int = 0,
    **order: Any,
) -> list[Draw]:
    """Return what all ranks draw in the first steps, in the stream's order."""
    ranks = [
        islice(
            StreamSampler(
                Passes(pictures=pictures, seed=seed, **order),
                rank=rank,
                size=size,
                batch_size=batch_size,
                position=position,
            ),
            steps,
        )
        for rank in range(size)
    ]
    return [draw for step in zip(*ranks, strict=True) for batch in step for draw in batch]


@given(st.integers(1, 30), st.integers(0, 5))
def test_each_pass_has_every_picture_once(pictures: int, seed: int) -> None:
    stream = draws(pictures * 3, pictures=pictures, seed=seed)
    for data_pass in range(3):
        part = stream[data_pass * pictures : (data_pass + 1) * pictures]
        assert sorted(draw.record for draw in part) == list(range(pictures))
        assert {draw.data_pass for draw in part} == {data_pass}


@given(st.integers(1, 20), st.integers(1, 4), st.integers(1, 4))
def test_ranks_together_draw_what_one_rank_would(pictures: int, size: int, batch: int) -> None:
    many = draws(5, pictures=pictures, size=size, batch_size=batch)
    assert many == draws(5, pictures=pictures, batch_size=size * batch)


def every_order(pictures: int) -> dict[str, Any]:
    """Return an order that groups, reads by shard and repeats."""
    random = np.random.default_rng(pictures)
    return {
        "shards": random.integers(0, 12, pictures),
        "aspects": random.uniform(0.5, 2, pictures),
        "repeats": 1 + 2 * random.random(pictures) ** 3,
    }


@given(st.integers(1, 60), st.integers(0, 200), st.sampled_from([(1, 12), (2, 6), (3, 4), (4, 1)]))
def test_a_step_has_the_same_pictures_however_ranks_and_micro_batches_share_it(
    pictures: int, begin: int, split: tuple[int, int]
) -> None:
    """Three steps of 24 pictures: by one rank, and by several that accumulate 24 / (size * batch)
    batches each."""
    size, batch = split
    order = every_order(pictures)
    alone = draws(3, pictures=pictures, batch_size=24, position=begin, **order)
    micro_batches = 3 * 24 // (size * batch)
    shared = draws(
        micro_batches, pictures=pictures, size=size, batch_size=batch, position=begin, **order
    )
    assert shared == alone


@given(st.integers(1, 60), st.lists(st.tuples(st.integers(1, 4), st.integers(1, 5)), max_size=6))
def test_with_another_number_of_ranks_nothing_is_seen_twice_or_skipped(
    pictures: int, sizes: list[tuple[int, int]]
) -> None:
    """Each time that ranks leave or join, the others go on from the position."""
    order = every_order(pictures)
    seen: list[Draw] = []
    for size, batch in sizes:
        seen += draws(
            2, pictures=pictures, size=size, batch_size=batch, position=len(seen), **order
        )
    assert seen == draws(len(seen), pictures=pictures, **order)


@given(st.integers(1, 20), st.integers(0, 50), st.integers(1, 3))
def test_a_position_goes_on_where_the_stream_was_left(
    pictures: int, position: int, size: int
) -> None:
    whole = draws(position + 6, pictures=pictures)
    assert (
        draws(2, pictures=pictures, size=size, batch_size=1, position=position)
        == whole[position : position + 2 * size]
    )


def test_orders_differ_by_pass_and_by_seed() -> None:
    stream = [draw.record for draw in draws(40, pictures=20)]
    assert stream[:20] != stream[20:]
    assert stream[:20] != [draw.record for draw in draws(20, pictures=20, seed=1)]


def by_shard(count: int, *, shards: list[int], data_pass: int = 0) -> list[int]:
    """Return the pictures that are drawn in one pass."""
    plan = Passes(pictures=len(shards), seed=0, shards=np.array(shards))
    sampler = StreamSampler(plan, rank=0, size=1, batch_size=1, position=data_pass * len(shards))
    return [draw.record for (draw,) in islice(sampler, count)]


@given(st.integers(1, 40), st.integers(1, 30), st.integers(0, 3))
def test_by_shard_each_pass_has_every_picture_once(
    shards: int, pictures: int, data_pass: int
) -> None:
    order = by_shard(
        pictures, shards=[number % shards for number in range(pictures)], data_pass=data_pass
    )
    assert sorted(order) == list(range(pictures))


def test_by_shard_few_shards_are_read_at_a_time() -> None:
    shards = [number // 50 for number in range(2000)]
    order = by_shard(2000, shards=shards)
    blocks = [
        {shards[picture] for picture in order[begin : begin + 400]} for begin in range(0, 2000, 400)
    ]
    assert [len(block) for block in blocks] == [8] * 5
    assert set.union(*blocks) == set(range(40))
    # Mixed, and otherwise in the next pass.
    assert len({shards[picture] for picture in order[:40]}) > 4
    assert order != by_shard(2000, shards=shards, data_pass=1)
    assert order == by_shard(2000, shards=shards)
