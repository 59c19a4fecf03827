"""Whole runs of one rank, in this process."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any, NoReturn

import pytest
import torch

from training.errors import JobFailed
from training.layout import LogChannel, TrainChannel
from training.maskrcnn import trainer
from training.maskrcnn.data.batch import Batch
from training.maskrcnn.engines.torch_engine import TorchEngine
from training.maskrcnn.model.losses import NAMES
from training.maskrcnn.step import Stepper
from training.maskrcnn.validation import Validation

TrainHere = Callable[..., Any]


@pytest.fixture
def train(shapes: TrainChannel, tmp_path: Path, train_in_process: TrainHere) -> TrainHere:
    """Run the trainer on the shapes, in this test's folder."""

    def run(hyperparameters: Any, stop: Any = None) -> Any:
        return train_in_process(shapes, tmp_path, hyperparameters, stop)

    return run


def assert_same_weights(one: Any, other: Any) -> None:
    for name, weight in one.weights().items():
        assert torch.equal(weight, other.weights()[name]), name


def test_a_run_leaves_everything_that_the_layout_promises(one_rank: Any) -> None:
    assert one_rank.ending == "completed"
    assert sorted(path.name for path in one_rank.channel.root.iterdir()) == [
        "checkpoints",
        "evaluation.json",
        "events",
        "metrics.jsonl",
        "model-best.pt",
        "model.pt",
        "predictions.json",
    ]
    assert len(list(one_rank.channel.events.glob("events.out.tfevents.*"))) == 1
    kinds = [line["kind"] for line in one_rank.lines()]
    assert kinds == ["train"] * 12 + ["evaluation"]
    train, *_, evaluation = one_rank.lines()
    assert set(NAMES) - set(train["values"]) <= {
        "maskrcnn_loss/pos_accuracy",
        "fastrcnn_losses/label_metrics/fg_accuracy",
        "fastrcnn_losses/label_metrics/false_negative",
    }
    maps = [name for name in evaluation["values"] if name.startswith("mAP(")]
    assert len(maps) == 12
    assert evaluation["values"]["evaluation_s"] > 0
    assert (train["step"], train["epoch"]) == (1, round(4 / 48, 6))
    assert (evaluation["step"], evaluation["epoch"]) == (12, 1)


def test_training_learns(one_rank: Any) -> None:
    losses = list(one_rank.train_values("total_loss").values())
    assert sum(losses[-3:]) < 0.95 * sum(losses[:3])


@pytest.mark.parametrize("kept", [5, 12])
def test_a_resumed_run_is_the_unbroken_one_bit_for_bit(
    kept: int, one_rank: Any, tiny: Any, tmp_path: Path, train: TrainHere
) -> None:
    """As after a kill: a later checkpoint is missing, lines of metrics after it are there."""
    shutil.copytree(one_rank.channel.root, tmp_path, dirs_exist_ok=True)
    for path in LogChannel(tmp_path).checkpoints.glob("step-*.pt"):
        if int(path.stem.removeprefix("step-")) > kept:
            path.unlink()
    LogChannel(tmp_path).model.unlink()
    resumed = train(tiny(checkpoint_period=5))
    for name in ("total_loss", "learning_rate"):
        assert resumed.train_values(name) == one_rank.train_values(name)
    assert_same_weights(resumed, one_rank)
    assert [line["step"] for line in resumed.lines()] == [*range(1, 13), 12] + [12] * (kept == 12)


def test_a_request_to_stop_ends_after_the_step_with_a_checkpoint(
    one_rank: Any, tiny: Any, train: TrainHere, monkeypatch: pytest.MonkeyPatch, stop: Any
) -> None:
    take = Stepper.take

    def ask_in_step_three(self: Stepper, batch: Batch, **given: Any) -> Any:
        calls.append(1)
        stop.is_requested = len(calls) == 3
        return take(self, batch, **{**given, "is_stop_requested": stop.is_requested})

    calls: list[int] = []
    monkeypatch.setattr(Stepper, "take", ask_in_step_three)
    stopped = train(tiny(checkpoint_period=5), stop)
    assert stopped.ending == "checkpointed"
    assert list(stopped.train_values("total_loss")) == [1, 2, 3]
    resumed = train(tiny(checkpoint_period=5))
    assert resumed.ending == "completed"
    assert_same_weights(resumed, one_rank)


def test_a_request_to_stop_during_evaluation_is_obeyed_and_evaluation_made_up_for(
    tiny: Any, train: TrainHere, stop: Any
) -> None:
    hyperparameters = tiny(images_per_epoch=4, log_period=100)
    stop.is_requested = True
    assert train(hyperparameters, stop).ending == "checkpointed"
    stop.is_requested = False
    resumed = train(hyperparameters, stop)
    assert [line["kind"] for line in resumed.lines()] == ["train", "evaluation"]


def test_training_draws_nothing_from_torch_s_own_generator(
    tiny: Any, train: TrainHere, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No generator's state is in a checkpoint: nothing may depend on one."""
    before: list[torch.Tensor] = []
    take = Stepper.take

    def watched(self: Stepper, *given: Any, **named: Any) -> Any:
        before.append(torch.get_rng_state())
        return take(self, *given, **named)

    monkeypatch.setattr(Stepper, "take", watched)
    train(tiny(images_per_epoch=12))
    assert len(before) == 3
    assert all(torch.equal(state, before[0]) for state in [*before, torch.get_rng_state()])


def test_the_best_model_stays_when_a_later_one_is_worse(
    tiny: Any, train: TrainHere, monkeypatch: pytest.MonkeyPatch
) -> None:
    scores = iter([0.2, 0.3, 0.1])
    saved: list[Any] = []
    run_validation = Validation.run

    def scored(self: Validation, *given: Any, **named: Any) -> float | None:
        assert run_validation(self, *given, **named) is not None
        return next(scores)

    monkeypatch.setattr(Validation, "run", scored)
    monkeypatch.setattr(trainer, "save_model", lambda path, _: saved.append(path.name))
    train(tiny(images_per_epoch=4, lr_epoch_schedule=[[3, None]]))
    assert saved == ["model-best.pt", "model-best.pt", "model.pt"]


def test_a_loss_that_is_not_finite_stops_before_the_step_and_names_the_pictures(
    tiny: Any, tmp_path: Path, train: TrainHere, monkeypatch: pytest.MonkeyPatch
) -> None:
    from training.maskrcnn.model import roi_heads

    calls: list[int] = []
    true_losses = roi_heads.mask_losses

    def spoil(*args: Any) -> Any:
        calls.append(1)
        losses = true_losses(*args)
        if len(calls) == 4:
            losses["maskrcnn_loss/maskrcnn_loss"].sum.data.fill_(float("nan"))
        return losses

    monkeypatch.setattr(roi_heads, "mask_losses", spoil)
    with pytest.raises(JobFailed) as failed:
        train(tiny(checkpoint_period=1))
    message = str(failed.value)
    assert "maskrcnn_loss/maskrcnn_loss is not finite" in message
    assert message.count("train2017/") == 4
    checkpoints = sorted(LogChannel(tmp_path).checkpoints.glob("step-*.pt"))
    assert checkpoints[-1].name == "step-00000003.pt"


def test_too_many_broken_pictures_stop_the_run(
    shapes: TrainChannel, tiny: Any, tmp_path: Path, train_in_process: TrainHere
) -> None:
    data = TrainChannel(tmp_path / "data")
    shutil.copytree(shapes.root, data.root)
    files = sorted(data.images("train2017").iterdir())
    for file in files[:3]:
        file.write_bytes(file.read_bytes()[:400])
    allowed = train_in_process(data, tmp_path / "log", tiny(max_broken_pictures=3))
    assert allowed.ending == "completed"
    with pytest.raises(JobFailed, match="max_broken_pictures 1"):
        train_in_process(data, tmp_path / "log2", tiny(max_broken_pictures=1))


def test_a_checkpoint_of_another_model_is_refused(
    one_rank: Any, tiny: Any, tmp_path: Path, train: TrainHere
) -> None:
    shutil.copytree(one_rank.channel.root, tmp_path, dirs_exist_ok=True)
    with pytest.raises(
        JobFailed, match="belong to another model; give another --log-dir"
    ) as failed:
        train(tiny(fpn_channels=24))
    # Where torch names each weight on a line of its own.
    message = str(failed.value)
    assert "weights are of another shape (backbone.fpn.inner_blocks.0.0.weight is 16 x " in message
    assert message.count(", not ") == 3
    assert "\n" not in message


@pytest.mark.parametrize(
    "changes", [{"optimizer": "adamw"}, {"trainable_backbone_layers": 2}, {"optimizer": "lars"}]
)
def test_a_checkpoint_of_another_optimizer_is_refused(
    changes: Any, one_rank: Any, tiny: Any, tmp_path: Path, train: TrainHere
) -> None:
    shutil.copytree(one_rank.channel.root, tmp_path, dirs_exist_ok=True)
    with pytest.raises(JobFailed, match=r"another optimizer.*give another --log-dir"):
        train(tiny(**changes))


def test_a_run_goes_on_at_another_rate_with_one_note(
    tiny: Any, train: TrainHere, stop: Any, capfd: pytest.CaptureFixture[str]
) -> None:
    stop.is_requested = True
    train(tiny(images_per_epoch=8), stop)
    stop.is_requested = False
    assert "goes on with" not in capfd.readouterr().err
    changed = train(tiny(images_per_epoch=8, base_learning_rate=0.04))
    note = "note: goes on with other hyperparameters than before: base_learning_rate 0.02 to 0.04\n"
    assert capfd.readouterr().err.count(note) == 1
    assert changed.ending == "completed"


def test_a_run_does_not_go_on_in_another_order(
    one_rank: Any, tiny: Any, tmp_path: Path, train: TrainHere
) -> None:
    shutil.copytree(one_rank.channel.root, tmp_path, dirs_exist_ok=True)
    with pytest.raises(JobFailed) as refused:
        train(tiny(checkpoint_period=5, seed=7))
    assert str(refused.value).startswith(
        f"{tmp_path}/checkpoints: its checkpoints belong to another order of the pictures (seed 0 "
        "to 7)"
    )


def test_a_checkpoint_is_not_written_again_before_a_step_is_taken(
    tiny: Any, train: TrainHere, tmp_path: Path, stop: Any
) -> None:
    """Checkpoint and checksum cannot be replaced both at once."""
    stop.is_requested = True
    hyperparameters = tiny(images_per_epoch=4)

    def files() -> dict[str, int]:
        paths = LogChannel(tmp_path).checkpoints.iterdir()
        return {path.name: path.stat().st_mtime_ns for path in paths}

    train(hyperparameters, stop)
    before = files()
    assert sorted(before) == ["step-00000001.pt", "step-00000001.pt.sha256"]
    assert train(hyperparameters, stop).ending == "checkpointed"
    assert files() == before


def test_a_best_model_that_could_not_be_saved_is_not_counted_as_saved(
    tiny: Any, tmp_path: Path, shapes: TrainChannel, stop: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A rank lost here, in an elastic run: the others evaluate again."""

    def lost(*_given: Any) -> NoReturn:
        raise ConnectionResetError

    monkeypatch.setattr(trainer, "save_model", lost)
    one = trainer.Trainer(
        trainer.Job(
            engine=TorchEngine(),
            hyperparameters=tiny(images_per_epoch=4),
            data=shapes,
            log=LogChannel(tmp_path),
            stop=stop,
        )
    )
    with pytest.raises(JobFailed):
        one.run()
    assert (one.position.step, one.position.images_at_evaluation) == (1, 0)
    assert one.position.best_score is None


def test_several_splits_are_evaluated_under_names_of_their_own(tiny: Any, train: TrainHere) -> None:
    run = train(tiny(images_per_epoch=4, data_val="val2017,train2017"))
    first, second = (line["values"] for line in run.lines() if line["kind"] == "evaluation")
    assert "mAP(segm)/IoU=0.5" in first
    assert "mAP(segm)/IoU=0.5@train2017" in second


def test_training_on_the_coco_layout_works_in_bf16_with_adamw_and_clipping(
    tiny: Any, train: TrainHere
) -> None:
    run = train(
        tiny(
            precision="bf16",
            optimizer="adamw",
            base_learning_rate=1e-3,
            gradient_clip=1,
            batch_norm="GN",
            images_per_epoch=8,
            image_short_sides=[48, 64],
        ),
    )
    assert run.ending == "completed"
