"""What the hyperparameters of data, order and periods do to a whole run."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch

from training.layout import LogChannel, TrainChannel

Train = Callable[..., Any]

EVERY_ORDER: dict[str, Any] = {
    "image_short_sides": [40, 64],
    "short_side_sampling": "range",
    "repeat_threshold": 0.6,
    "shuffle": "shards",
    "images_per_epoch": 24,
    "checkpoint_period": 1,
    "keep_checkpoints": 9,
}


@pytest.fixture
def train(shapes: TrainChannel, tmp_path: Path, train_in_process: Train, tiny: Any) -> Train:
    """Run the trainer on the shapes with changed hyperparameters."""

    def run(name: str = "log", **changes: Any) -> Any:
        return train_in_process(shapes, tmp_path / name, tiny(**changes))

    return run


def evaluated_at(run: Any) -> list[int]:
    return [line["step"] for line in run.lines() if line["kind"] == "evaluation"]


def assert_same(one: Any, other: Any) -> None:
    """Compare losses and weights bit for bit."""
    assert one.train_values("total_loss") == other.train_values("total_loss")
    others = other.weights()
    for name, weight in one.weights().items():
        assert torch.equal(weight, others[name]), name


@pytest.mark.parametrize(
    ("images_per_epoch", "eval_period", "expected"),
    [
        (8, 2, [4, 8, 10]),
        # Epochs that end within a step: after it.
        (6, 1, [2, 3, 5, 6, 8]),
    ],
)
def test_evaluation_comes_each_period_and_at_the_end(
    train: Train, images_per_epoch: int, eval_period: int, expected: list[int]
) -> None:
    run = train(
        images_per_epoch=images_per_epoch,
        eval_period=eval_period,
        lr_epoch_schedule=[[5, None]],
        detections_per_image=1,
    )
    assert evaluated_at(run) == expected
    assert list(run.train_values("total_loss"))[-1] == expected[-1]


def test_an_epoch_is_the_data_unless_its_length_is_given(train: Train) -> None:
    run = train(images_per_epoch=None, eval_period=9, lr_epoch_schedule=[[2, None]])
    # Some of the 20 shapes pictures may have no object: the run says how many it has.
    lines = [line for line in run.lines() if line["kind"] == "train"]
    pictures = 4 * lines[0]["step"] / lines[0]["epoch"]
    assert pictures == pytest.approx(round(pictures), abs=0.01)
    assert 15 < round(pictures) <= 20
    assert lines[-1]["step"] == -(-2 * round(pictures) // 4)


def test_repeats_make_passes_longer_but_no_epoch(train: Train) -> None:
    plain, repeating = (
        train(name, images_per_epoch=None, repeat_threshold=threshold, eval_period=9)
        for name, threshold in (("plain", None), ("repeating", 0.9))
    )
    steps = [list(run.train_values("total_loss")) for run in (plain, repeating)]
    assert steps[0] == steps[1]
    assert plain.train_values("total_loss") != repeating.train_values("total_loss")


def test_all_splits_of_data_train_make_an_epoch_together(train: Train) -> None:
    one, both = (
        train(name, images_per_epoch=None, data_train=splits, eval_period=9)
        for name, splits in (("one", "train2017"), ("both", "train2017,val2017"))
    )
    more = len(both.train_values("total_loss")) - len(one.train_values("total_loss"))
    assert more == 1  # Four pictures.


@pytest.mark.parametrize(
    ("schedule", "rates"),
    [
        ({"lr_schedule": [2, 3, 4]}, [1, 1, 1, 1, 0.1, 0.1, 0.01, 0.01]),
        ({"lr_epoch_schedule": [[2, 0.5], [3, 0.2], [4, None]]}, [1, 1, 1, 1, 0.5, 0.5, 0.2, 0.2]),
    ],
    ids=["TensorPack's steps of 8 pictures", "epochs"],
)
def test_the_rate_of_each_step_follows_the_schedule(
    train: Train, schedule: dict[str, Any], rates: list[float]
) -> None:
    run = train(
        **{"lr_epoch_schedule": None, **schedule},
        images_per_epoch=8,
        eval_period=9,
        warmup_steps=0,
        base_learning_rate=0.02,
    )
    # 0.02 for batches of 8, and here are 4.
    assert list(run.train_values("learning_rate").values()) == pytest.approx(
        [0.01 * rate for rate in rates]
    )


@pytest.fixture(scope="module")
def ordered(
    shapes: TrainChannel,
    train_in_process: Train,
    tiny: Any,
    tmp_path_factory: pytest.TempPathFactory,
) -> Any:
    """A whole run with every kind of order."""
    return train_in_process(shapes, tmp_path_factory.mktemp("ordered"), tiny(**EVERY_ORDER))


def test_the_same_seed_gives_the_same_run_and_another_seed_another(
    ordered: Any, train: Train
) -> None:
    assert_same(ordered, train("again", **EVERY_ORDER))
    other = train("other", **{**EVERY_ORDER, "images_per_epoch": 8}, seed=1)
    losses = ordered.train_values("total_loss")
    assert all(loss != losses[step] for step, loss in other.train_values("total_loss").items())


@pytest.mark.parametrize("kept", [2, 5])
def test_with_every_kind_of_order_a_resumed_run_is_the_unbroken_one(
    kept: int, ordered: Any, train: Train, tmp_path: Path
) -> None:
    shutil.copytree(ordered.channel.root, tmp_path / "resumed")
    wanted = {path.name for path in ordered.channel.checkpoints.glob(f"step-{kept:08d}*")}
    for path in LogChannel(tmp_path / "resumed").checkpoints.iterdir():
        if path.name not in wanted:
            path.unlink()
    LogChannel(tmp_path / "resumed").model.unlink()
    assert_same(ordered, train("resumed", **EVERY_ORDER))
