"""TensorPack's Mask R-CNN on TensorFlow 1 and Horovod: tensorpack/tensorpack@db541e8.

Its directory is examples/FasterRCNN; what is said of its files here means that commit.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

from pydantic import BaseModel

from training.algorithms import Distribution
from training.algorithms.gpu_counts import check_gpu_count
from training.algorithms.learning_rates import LearningRates, RateChange
from training.algorithms.reference_metrics import REFERENCE_METRICS
from training.algorithms.tensorpack_hyperparameters import TensorPackHyperparameters
from training.errors import UsageError

HYPERPARAMETERS = TensorPackHyperparameters
REPOSITORY = "tensorpack_repository_uri"
DEFAULT_INSTANCES = ("p3.16xlarge", 4)
READS_RECORDS = False
METRICS = REFERENCE_METRICS

SPLIT_PREFIX = "coco_"
"""Before the name of a split in `data_train` and `data_val`."""

_BASE_LR = 1e-2
_WARMUP_STEPS = 1000
_REFERENCE_GPUS = 8
"""What BASE_LR and LR_SCHEDULE are defined for."""


def splits(hyperparameters: BaseModel) -> Sequence[str]:
    """See `training.algorithms.Algorithm`."""
    own = _own(hyperparameters)
    names = dict.fromkeys([*own.data_train, *own.data_val])
    return [name.removeprefix(SPLIT_PREFIX) for name in names]


def weight_files(hyperparameters: BaseModel) -> Mapping[str, str]:
    """See `training.algorithms.Algorithm`."""
    return _own(hyperparameters).weight_files()


def bad_annotations(hyperparameters: BaseModel) -> Literal["stop", "skip"]:  # noqa: ARG001
    """dataset/coco.py leaves out boxes without area."""
    return "skip"


def learning_rates(hyperparameters: BaseModel, *, world_size: int) -> LearningRates:
    """See `training.algorithms.Algorithm`.

    Sources: train.py for the schedule, in whole epochs; modeling/generalized_rcnn.py, `optimizer`,
    and `HorovodTrainer(average=False)` for the rate.

    Raises:
        UsageError: It cannot train on so many GPUs, or not so that an epoch has a step.
    """
    own = _own(hyperparameters)
    check_gpu_count("tensorpack", world_size)
    steps_per_epoch = own.images_per_epoch // world_size
    if steps_per_epoch == 0:
        raise UsageError(
            f"hyperparameters.images_per_epoch: {own.images_per_epoch}: an epoch has no step on "
            f"{world_size} GPUs; give {world_size} or more"
        )
    factor = _REFERENCE_GPUS / world_size
    rate = own.config_number("TRAIN.BASE_LR", _BASE_LR) * world_size / _REFERENCE_GPUS
    drops, last = own.lr_schedule[:-1], own.lr_schedule[-1]
    epochs = [int(steps * factor // steps_per_epoch) for steps in drops]
    total_epochs = int(last * factor // steps_per_epoch)
    if total_epochs == 0:
        raise UsageError(
            f"hyperparameters.lr_schedule: {list(own.lr_schedule)}: it ends within the first epoch "
            f"on {world_size} GPUs, and training lasts whole epochs; raise its last step or lower "
            "images_per_epoch"
        )
    return LearningRates(
        definition=(
            "lr_schedule counts steps of 8 pictures and is rounded down to whole epochs; gradients "
            "are summed over the GPUs and divided by 8, so that the rate grows with their number "
            "(its log shows the rate at 8)"
        ),
        global_batch_size=world_size,
        warmup_steps=int(own.config_number("TRAIN.WARMUP", _WARMUP_STEPS)),
        total_steps=total_epochs * steps_per_epoch,
        changes=(
            RateChange(0, 0.0, rate),
            *(
                RateChange(epoch * steps_per_epoch, float(epoch), rate * 0.1 ** (index + 1))
                for index, epoch in enumerate(epochs)
            ),
        ),
    )


def impossible(
    hyperparameters: BaseModel,  # noqa: ARG001
    *,
    distribution: Distribution,  # noqa: ARG001
    gpus: int,  # noqa: ARG001
) -> Sequence[str]:
    """See `training.algorithms.Algorithm`: it has but one way to run."""
    return ()


def _own(hyperparameters: BaseModel) -> TensorPackHyperparameters:
    assert isinstance(hyperparameters, TensorPackHyperparameters)
    return hyperparameters
