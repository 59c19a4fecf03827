"""AWS's optimized Mask R-CNN on TensorFlow 1 and Horovod: aws-samples/mask-rcnn-tensorflow@99dda64.

What is said of its files here means MaskRCNN/ at that commit.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

from pydantic import BaseModel

from training.algorithms import Distribution
from training.algorithms.aws_samples_hyperparameters import AwsSamplesHyperparameters
from training.algorithms.gpu_counts import check_gpu_count
from training.algorithms.learning_rates import LearningRates, RateChange
from training.algorithms.reference_metrics import REFERENCE_METRICS
from training.errors import UsageError

HYPERPARAMETERS = AwsSamplesHyperparameters
REPOSITORY = "aws_samples_repository_uri"
DEFAULT_INSTANCES = ("p3.16xlarge", 4)
READS_RECORDS = False
METRICS = REFERENCE_METRICS

_BASE_LR = 1e-2 / 8
_WARMUP_STEPS = 1000


def splits(hyperparameters: BaseModel) -> Sequence[str]:
    """See `training.algorithms.Algorithm`."""
    own = _own(hyperparameters)
    return list(dict.fromkeys([*own.data_train, *own.data_val]))


def weight_files(hyperparameters: BaseModel) -> Mapping[str, str]:
    """See `training.algorithms.Algorithm`."""
    return _own(hyperparameters).weight_files()


def bad_annotations(hyperparameters: BaseModel) -> Literal["stop", "skip"]:  # noqa: ARG001
    """dataset.py leaves out boxes of less than 4 square pixels."""
    return "skip"


def learning_rates(hyperparameters: BaseModel, *, world_size: int) -> LearningRates:
    """See `training.algorithms.Algorithm`.

    Source: train.py, from `images_per_step` to `max_epoch`.

    Raises:
        UsageError: It cannot train on so many GPUs, or not so that an epoch has a step.
    """
    own = _own(hyperparameters)
    check_gpu_count("aws-samples", world_size)
    global_batch = world_size * own.batch_size_per_gpu
    steps_per_epoch = own.images_per_epoch // global_batch
    if steps_per_epoch == 0:
        raise UsageError(
            f"hyperparameters.images_per_epoch: {own.images_per_epoch}: an epoch has no step with "
            f"{global_batch} pictures in it; give {global_batch} or more"
        )
    rate = own.config_number("TRAIN.BASE_LR", _BASE_LR) * global_batch
    *pairs, (last_epoch, _) = own.lr_epoch_schedule
    return LearningRates(
        definition=(
            "BASE_LR is for one picture and grows with the pictures in a step of all GPUs; "
            "lr_epoch_schedule counts epochs of images_per_epoch pictures"
        ),
        global_batch_size=global_batch,
        warmup_steps=int(own.config_number("TRAIN.WARMUP_STEPS", _WARMUP_STEPS)),
        total_steps=last_epoch * steps_per_epoch,
        changes=(
            RateChange(0, 0.0, rate),
            *(
                RateChange(epoch * steps_per_epoch, float(epoch), rate * multiplier)
                for epoch, multiplier in pairs
                if multiplier is not None
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


def _own(hyperparameters: BaseModel) -> AwsSamplesHyperparameters:
    assert isinstance(hyperparameters, AwsSamplesHyperparameters)
    return hyperparameters
