from __future__ import annotations

import time
from collections import Counter
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from training.maskrcnn.data.order import GROUP, GROUPS_TOGETHER, Passes, PassOrder

WINDOW = GROUP * GROUPS_TOGETHER


@st.composite
def passes(draw: st.DrawFn) -> Passes:
    """Passes of every kind, of up to three windows."""
    pictures = draw(st.integers(1, 3 * WINDOW))
    random = np.random.default_rng(draw(st.integers(0, 99)))
    return Passes(
        pictures=pictures,
        seed=draw(st.integers(0, 3)),
        shards=random.integers(0, 20, pictures) if draw(st.booleans()) else None,
        aspects=random.uniform(0.5, 2, pictures) if draw(st.booleans()) else None,
        repeats=1 + 3 * random.random(pictures) ** 4 if draw(st.booleans()) else None,
    )


@given(passes(), st.integers(0, 4))
def test_each_pass_has_every_picture_as_often_as_it_should(plan: Passes, data_pass: int) -> None:
    order = plan.order(data_pass)
    assert len(order.records) == len(order.copies) == len(plan)
    counts = np.bincount(order.records, minlength=plan.pictures)
    repeats = np.ones(plan.pictures) if plan.repeats is None else plan.repeats
    assert (np.floor(repeats) <= counts).all()
    assert (counts <= np.ceil(repeats)).all()
    assert abs(len(plan) - repeats.sum()) < 1
    occurrences = Counter(zip(order.records.tolist(), order.copies.tolist(), strict=True))
    assert occurrences == Counter(
        (record, copy) for record, count in enumerate(counts) for copy in range(count)
    )


@given(passes())
def test_an_order_follows_from_seed_and_pass_alone(plan: Passes) -> None:
    first, again, next_pass = plan.order(1), plan.order(1), plan.order(2)
    assert np.array_equal(first.records, again.records)
    assert np.array_equal(first.copies, again.copies)
    if plan.pictures > 50:
        assert not np.array_equal(first.records, next_pass.records)


def grouped(pictures: int, **changes: Any) -> tuple[Passes, NDArray[np.float64]]:
    aspects = np.random.default_rng(5).choice([0.66, 0.75, 1.0, 1.33, 1.5], pictures)
    return Passes(pictures=pictures, seed=0, aspects=aspects, **changes), aspects


@pytest.mark.parametrize("batch_size", [1, 2, 4, 8, 16])
def test_the_pictures_of_a_batch_have_like_proportions_in_every_pass(batch_size: int) -> None:
    pictures = 10 * WINDOW + 5  # So that passes begin in the middle of a group.
    plan, aspects = grouped(pictures)
    stream = np.concatenate([plan.order(data_pass).records for data_pass in range(3)])
    batches = aspects[stream[: len(stream) // batch_size * batch_size]].reshape(-1, batch_size)
    mixed = (batches.max(axis=1) / batches.min(axis=1) > 1.34).mean()
    # Only where passes meet, and a few groups that span several of the five proportions.
    assert mixed < 0.03
    alone = Passes(pictures=pictures, seed=0).order(0).records
    others = aspects[alone[: pictures // 16 * 16]].reshape(-1, 16)
    assert (others.max(axis=1) / others.min(axis=1) > 1.34).mean() > 0.9


def test_grouping_leaves_pictures_near_their_place_and_proportions_mixed_over_time() -> None:
    plan, aspects = grouped(20 * WINDOW)
    alone = Passes(pictures=plan.pictures, seed=0).order(0).records
    order = plan.order(0).records
    assert (np.argsort(alone) // WINDOW == np.argsort(order) // WINDOW).all()
    is_wide = aspects[order].reshape(-1, GROUP).mean(axis=1) > 1
    # In a window the wide ones do not all come first or last.
    first_half = is_wide.reshape(-1, GROUPS_TOGETHER)[:, : GROUPS_TOGETHER // 2]
    assert 0.4 < first_half.mean() / is_wide.mean() < 1.6
    assert len({tuple(half) for half in first_half.tolist()}) > 10


def test_grouping_by_shard_still_reads_few_shards_at_a_time() -> None:
    shards = np.arange(8000) // 200
    plan, _ = grouped(8000, shards=shards)
    order = plan.order(0).records
    read = [len(set(shards[order[at : at + 400]].tolist())) for at in range(0, 8000, 400)]
    assert max(read) <= 16


def test_repeats_come_as_often_as_their_factor_on_average() -> None:
    repeats = np.array([1.0, 1.25, 1.5, 2.0, 3.9] * 20)
    plan = Passes(pictures=100, seed=0, repeats=repeats)
    assert len(plan) == 193
    counts = sum(np.bincount(plan.order(turn).records, minlength=100) for turn in range(400))
    assert counts / 400 == pytest.approx(repeats, abs=0.12)
    by_factor = (counts / 400).reshape(20, 5).mean(axis=0)  # type: ignore[attr-defined]
    assert by_factor == pytest.approx([1, 1.25, 1.5, 2, 3.9], abs=0.01)


def test_a_pass_over_coco_is_planned_in_an_instant() -> None:
    pictures = 118_287
    random = np.random.default_rng(0)
    plan = Passes(
        pictures=pictures,
        seed=0,
        shards=np.arange(pictures) // 1000,
        aspects=random.uniform(0.5, 2, pictures),
        repeats=1 + random.random(pictures) ** 8,
    )
    took_s = min(_time(plan) for _ in range(3))
    assert took_s < 1.0  # 0.1 s on an idle core.
    order = plan.order(0)
    assert order.records.nbytes + order.copies.nbytes < 3 * 2**20


def _time(plan: Passes) -> float:
    begin = time.process_time()
    order: PassOrder = plan.order(0)
    assert len(order.records) == len(plan)
    return time.process_time() - begin
