"""A run follows from its seed, its pictures and its hyperparameters, to the last bit on a CPU."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import torch

from training.data.pack.pack import pack
from training.data.pack.target import Kind
from training.data.splits import find_splits
from training.layout import TrainChannel
from training.maskrcnn.model.losses import LOSSES


def losses_of(run: Any) -> list[dict[int, float]]:
    """Return each loss of each step."""
    return [run.train_values(name) for name in LOSSES]


def assert_equal_runs(one: Any, other: Any) -> None:
    assert losses_of(one) == losses_of(other)
    weights, others = one.weights(), other.weights()
    assert weights.keys() == others.keys()
    for name, value in weights.items():
        assert torch.equal(value, others[name]), name


def test_a_seed_gives_the_same_run_again_and_workers_change_nothing(
    one_rank: Any, shapes: TrainChannel, tiny: Any, train_in_process: Any, tmp_path: Path
) -> None:
    # What torch itself would draw from plays no part.
    torch.manual_seed(12345)
    again = train_in_process(shapes, tmp_path, tiny(num_workers=2))
    assert_equal_runs(again, one_rank)


def test_another_seed_gives_another_run(
    one_rank: Any, shapes: TrainChannel, tiny: Any, train_in_process: Any, tmp_path: Path
) -> None:
    other = train_in_process(shapes, tmp_path, tiny(seed=1))
    for losses, others in zip(losses_of(other), losses_of(one_rank), strict=True):
        assert losses != others


def test_shards_give_the_run_of_loose_files(
    one_rank: Any, shapes: TrainChannel, tiny: Any, train_in_process: Any, tmp_path: Path
) -> None:
    packed = tmp_path / "packed"
    pack(find_splits(shapes.root), packed, kind=Kind.WEBDATASET, shard_mib=1, workers=1)
    run = train_in_process(TrainChannel(packed), tmp_path / "log", tiny(num_workers=2))
    assert_equal_runs(run, one_rank)
