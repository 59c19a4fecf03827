"""The hyperparameters of `tensorpack`, see `training.algorithms.tensorpack`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, ClassVar, Literal

from pydantic import BeforeValidator, Field

from training.algorithms.reference_hyperparameters import ReferenceHyperparameters
from training.hyperparameter_types import TEXT, WORD, Bool, Count, LrSchedule, read_names
from training.reference_keys import TENSORPACK_KEYS, TENSORPACK_TEXTS

Split = Literal[
    "coco_train2017",
    "coco_val2017",
    "coco_train2014",
    "coco_val2014",
    "coco_valminusminival2014",
    "coco_minival2014",
    "coco_val2017_100",
]
"""What examples/FasterRCNN/dataset/coco.py registers."""

Splits = Annotated[tuple[Split, ...], Field(min_length=1), BeforeValidator(read_names)]


class TensorPackHyperparameters(ReferenceHyperparameters):
    """What tensorpack/examples/FasterRCNN@db541e8 takes."""

    KEYS = TENSORPACK_KEYS
    TEXT_KEYS = TENSORPACK_TEXTS
    OWN_KEYS: ClassVar[Mapping[str, str]] = {
        **ReferenceHyperparameters.OWN_KEYS,
        "TRAIN.STEPS_PER_EPOCH": "use the hyperparameter images_per_epoch",
        "TRAIN.LR_SCHEDULE": "use the hyperparameter lr_schedule",
        "TRAIN.CHECKPOINT_PERIOD": "use the hyperparameter checkpoint_period",
    }
    OTHERS: ClassVar[Mapping[str, str]] = {
        "lr_epoch_schedule": "tensorpack has no schedule in epochs; give lr_schedule in steps of "
        "8 pictures, for example [240000, 320000, 360000]"
    }

    mode_fpn: Bool = True
    """A feature pyramid (FPN) on the backbone; without it the model is R-CNN on C4."""
    data_train: Splits = ("coco_train2017",)
    """Splits to train on, together: `coco_` and the split's name."""
    data_val: Splits = ("coco_val2017",)
    """Splits to evaluate, one after the other."""
    lr_schedule: Annotated[LrSchedule, TEXT] = (240_000, 320_000, 360_000)
    """Steps at which the rate falls to a tenth, the last of them the end: in steps of 8 pictures,
    whatever the number of GPUs is."""
    batch_size_per_gpu: Annotated[Literal[1], TEXT] = 1
    """Pictures of one GPU in one step. Only 1."""
    precision: Annotated[Literal["fp32"], WORD] = "fp32"
    """Arithmetic of the network. Only fp32."""
    checkpoint_period: Count = 1
    """Epochs between checkpoints; the end has one too."""
