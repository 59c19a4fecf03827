from __future__ import annotations

from typing import Any

import pytest

from training.maskrcnn.hyperparameters import read_hyperparameters
from training.maskrcnn.schedule import Schedule, make_schedule


def schedule(world_size: int = 2, images_per_epoch: int = 160, **values: Any) -> Schedule:
    hyperparameters = read_hyperparameters(
        {"batch_size_per_gpu": 4, "warmup_steps": 0, "base_learning_rate": 0.01, **values},
        source="test",
    )
    return make_schedule(hyperparameters, world_size=world_size, images_per_epoch=images_per_epoch)


@pytest.mark.parametrize(
    ("step", "rate"),
    [(0, 0.01), (39, 0.01), (40, 0.001), (59, 0.001), (60, 0.0001), (79, 0.0001)],
)
def test_rate_drops_at_the_epochs_of_the_schedule(step: int, rate: float) -> None:
    plan = schedule(lr_epoch_schedule=[(2, 0.1), (3, 0.01), (4, None)])
    assert plan.total_steps == 80
    assert plan.learning_rate_at(step) == pytest.approx(rate)


@pytest.mark.parametrize(
    ("world_size", "total_steps", "first_drop"), [(1, 60, 20), (2, 30, 10), (4, 15, 5)]
)
def test_tensorpack_steps_are_converted_to_the_same_pictures(
    world_size: int, total_steps: int, first_drop: int
) -> None:
    plan = schedule(world_size, lr_schedule=[10, 20, 30])
    assert plan.total_steps == total_steps
    assert plan.learning_rate_at(first_drop) == pytest.approx(
        0.1 * plan.learning_rate_at(first_drop - 1)
    )
    assert plan.learning_rate_at(total_steps - 1) == pytest.approx(0.01 * plan.learning_rate)


@pytest.mark.parametrize(("world_size", "rate"), [(1, 0.005), (2, 0.01), (8, 0.04)])
def test_rate_grows_in_proportion_to_the_global_batch(world_size: int, rate: float) -> None:
    plan = schedule(world_size, lr_schedule=[100])
    assert plan.learning_rate_at(0) == pytest.approx(rate)


@pytest.mark.parametrize(("step", "share"), [(0, 0.5), (5, 0.75), (10, 1.0), (11, 1.0)])
def test_warm_up_grows_linearly(step: int, share: float) -> None:
    plan = schedule(lr_schedule=[100], warmup_steps=10, warmup_factor=0.5)
    assert plan.learning_rate_at(step) == pytest.approx(0.01 * share)


def test_a_last_step_covers_pictures_that_do_not_fill_a_batch() -> None:
    assert schedule(images_per_epoch=17, lr_epoch_schedule=[(1, None)]).total_steps == 3


def test_a_step_of_several_batches_counts_all_their_pictures() -> None:
    several = schedule(accumulation_steps=3, warmup_steps=5)
    assert several.global_batch_size == 2 * 4 * 3
    assert several == schedule(batch_size_per_gpu=12, warmup_steps=5)
