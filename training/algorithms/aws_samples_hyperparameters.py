"""The hyperparameters of `aws-samples`, see `training.algorithms.aws_samples`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, ClassVar, Literal

from pydantic import Field

from training.algorithms.reference_hyperparameters import ReferenceHyperparameters
from training.hyperparameter_types import TEXT, WORD, Int, LrEpochSchedule, Names, only_true
from training.reference_keys import AWS_SAMPLES_KEYS, AWS_SAMPLES_TEXTS


class AwsSamplesHyperparameters(ReferenceHyperparameters):
    """What aws-samples/mask-rcnn-tensorflow@99dda64 takes."""

    KEYS = AWS_SAMPLES_KEYS
    TEXT_KEYS = AWS_SAMPLES_TEXTS
    OWN_KEYS: ClassVar[Mapping[str, str]] = {
        **ReferenceHyperparameters.OWN_KEYS,
        "TRAIN.BATCH_SIZE_PER_GPU": "use the hyperparameter batch_size_per_gpu",
        "TRAIN.LR_EPOCH_SCHEDULE": "use the hyperparameter lr_epoch_schedule",
    }
    OTHERS: ClassVar[Mapping[str, str]] = {
        "lr_schedule": "aws-samples has no schedule in steps; give lr_epoch_schedule in epochs, "
        "for example [(16, 0.1), (20, 0.01), (24, None)]",
        "checkpoint_period": "aws-samples writes one after every epoch; leave it out",
    }

    mode_fpn: Annotated[Literal[True], only_true("the model has a feature pyramid")] = True
    """A feature pyramid (FPN) on the backbone. Only True."""
    data_train: Names = ("train2017",)
    """Splits to train on, together."""
    data_val: Names = ("val2017",)
    """Splits to evaluate, one after the other."""
    lr_epoch_schedule: Annotated[LrEpochSchedule, TEXT] = ((16, 0.1), (20, 0.01), (24, None))
    """Pairs of an epoch and the multiple of the base rate from there on; the last pair has None
    and ends the training."""
    batch_size_per_gpu: Annotated[Int, Field(ge=1, le=4)] = 4
    """Pictures of one GPU in one step: 1 to 4."""
    precision: Annotated[Literal["fp16"], WORD] = "fp16"
    """Arithmetic of the network. Only fp16, with loss scaling."""
