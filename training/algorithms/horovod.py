"""The first-party trainer: PyTorch, torchvision's Mask R-CNN, Horovod."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

from pydantic import BaseModel

from training.algorithms import Distribution
from training.algorithms.learning_rates import LearningRates, RateChange
from training.algorithms.metric import Metric, metric
from training.algorithms.reference_metrics import REFERENCE_METRICS
from training.maskrcnn.horovod_limits import impossible_options
from training.maskrcnn.hyperparameters import Hyperparameters
from training.maskrcnn.schedule import Schedule, make_schedule

HYPERPARAMETERS = Hyperparameters
REPOSITORY = "horovod_repository_uri"
DEFAULT_INSTANCES = ("p4d.24xlarge", 4)
READS_RECORDS = False
METRICS: tuple[Metric, ...] = (
    *REFERENCE_METRICS,
    metric("rpn_losses/label_loss"),
    metric("rpn_losses/box_loss"),
    metric("total_loss"),
    metric("learning_rate"),
    metric("images_per_second"),
    metric("evaluation_s"),
    metric("data_wait_share"),
    metric("memory_mib"),
    metric("host_mib"),
    # Of the twelve of recall, those that say something of every model.
    metric("mAR(bbox)/detections=100"),
    metric("mAR(segm)/detections=100"),
)


def command(*, data: str, log_dir: str, hyperparameters: str, resume: bool) -> list[str]:
    """See `training.algorithms.RunsHere`."""
    return [
        "-m",
        "training.maskrcnn.train",
        "--data",
        data,
        "--log-dir",
        log_dir,
        "--hyperparameters",
        hyperparameters,
        "--engine",
        "horovod",
        "--resume",
        "auto" if resume else "never",
    ]


def impossible(
    hyperparameters: BaseModel, *, distribution: Distribution, gpus: int
) -> Sequence[str]:
    """See `training.algorithms.Algorithm`: with mpi and elastic, Horovod adds up gradients."""
    if distribution not in {"mpi", "elastic"}:
        return ()
    return impossible_options(_own(hyperparameters), has_nccl=gpus > 0)


def splits(hyperparameters: BaseModel) -> Sequence[str]:
    """See `training.algorithms.Algorithm`."""
    own = _own(hyperparameters)
    return list(dict.fromkeys([*own.data_train, *own.data_val]))


def weight_files(hyperparameters: BaseModel) -> Mapping[str, str]:
    """See `training.algorithms.Algorithm`."""
    return _own(hyperparameters).weight_files()


def bad_annotations(hyperparameters: BaseModel) -> Literal["stop", "skip"]:
    """See `training.algorithms.Algorithm`."""
    return _own(hyperparameters).bad_annotations


def learning_rates(hyperparameters: BaseModel, *, world_size: int) -> LearningRates:
    """See `training.algorithms.Algorithm`; the trainer's own schedule."""
    own = _own(hyperparameters)
    if own.images_per_epoch is None and own.lr_schedule is None:
        return _in_epochs(own, world_size)
    # `lr_schedule` counts pictures, whatever an epoch is.
    schedule = make_schedule(own, world_size=world_size, images_per_epoch=own.images_per_epoch or 1)
    return _describe(
        schedule,
        total_steps=schedule.total_steps,
        drops=[
            RateChange(
                step,
                schedule.epoch_at(step) if own.images_per_epoch else None,
                schedule.learning_rate * multiple,
            )
            for step, multiple in schedule.drops
        ],
    )


def _in_epochs(own: Hyperparameters, world_size: int) -> LearningRates:
    """`lr_epoch_schedule` counts passes over data whose length is not known here."""
    schedule = make_schedule(own, world_size=world_size, images_per_epoch=1)
    assert own.lr_epoch_schedule is not None
    return _describe(
        schedule,
        total_steps=None,
        drops=[
            RateChange(None, float(epoch), schedule.learning_rate * multiple)
            for epoch, multiple in own.lr_epoch_schedule
            if multiple is not None
        ],
    )


def _describe(
    schedule: Schedule, *, total_steps: int | None, drops: Sequence[RateChange]
) -> LearningRates:
    return LearningRates(
        definition=(
            "base_learning_rate is for reference_batch_size pictures and grows with the pictures "
            "in a step of all GPUs; the rate falls after the same pictures whatever their number is"
        ),
        global_batch_size=schedule.global_batch_size,
        warmup_steps=schedule.warmup_steps,
        total_steps=total_steps,
        changes=(RateChange(0, 0.0, schedule.learning_rate), *drops),
    )


def _own(hyperparameters: BaseModel) -> Hyperparameters:
    assert isinstance(hyperparameters, Hyperparameters)
    return hyperparameters
