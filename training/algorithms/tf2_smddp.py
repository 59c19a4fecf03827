"""NVIDIA's TensorFlow 2 Mask R-CNN with SageMaker's data parallel library.

HerringForks/DeepLearningExamples@86ee4e9, TensorFlow2/Segmentation/MaskRCNN; what is said of its
files here means that commit.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

from pydantic import BaseModel

from training.algorithms import Distribution
from training.algorithms.learning_rates import LearningRates, RateChange
from training.algorithms.metric import Metric, metric
from training.algorithms.tf2_smddp_hyperparameters import Tf2SmddpHyperparameters

HYPERPARAMETERS = Tf2SmddpHyperparameters
REPOSITORY = "tf2_smddp_repository_uri"
DEFAULT_INSTANCES = ("p3dn.24xlarge", 2)
READS_RECORDS = True

# It prints `[MaskRCNN] INFO    : name: value` (mask_rcnn/utils/logging_formatter.py), where what
# is before the name tells `AP` from `mask_AP` and `throughput` from `Average throughput`.
# Losses: mask_rcnn/mask_rcnn_model.py. Averages over COCO: mask_rcnn/coco_metric.py.
METRICS: tuple[Metric, ...] = tuple(
    metric(name, after=": ")
    for name in (
        "Total loss",
        "L2 loss",
        "Mask loss",
        "RPN box loss",
        "RPN score loss",
        "RPN total loss",
        "FastRCNN box loss",
        "FastRCNN class loss",
        "FastRCNN total loss",
        "Learning rate",
        "throughput",
        *(
            f"{kind}{name}"
            for kind in ("", "mask_")
            for name in ("AP", "AP50", "AP75", "APs", "APm", "APl")
        ),
    )
)

_WARMUP_STEPS = 1000
"""Default of the flag warmup_steps (mask_rcnn/hyperparameters/cmdline_utils.py)."""


def splits(hyperparameters: BaseModel) -> Sequence[str]:
    """See `training.algorithms.Algorithm`."""
    own = _own(hyperparameters)
    return list(dict.fromkeys([own.data_train, own.data_val]))


def weight_files(hyperparameters: BaseModel) -> Mapping[str, str]:
    """See `training.algorithms.Algorithm`."""
    return _own(hyperparameters).weight_files()


def bad_annotations(hyperparameters: BaseModel) -> Literal["stop", "skip"]:  # noqa: ARG001
    """What cannot be trained on was left out when the TFRecords were written."""
    return "skip"


def learning_rates(hyperparameters: BaseModel, *, world_size: int) -> LearningRates:
    """See `training.algorithms.Algorithm`.

    Source: mask_rcnn/training/learning_rates.py; its `piecewise_constant` keeps a rate up to and
    with the boundary.
    """
    own = _own(hyperparameters)
    first, second = own.learning_rate_steps
    rate = own.init_learning_rate
    return LearningRates(
        definition=(
            "init_learning_rate holds whatever the number of GPUs is; learning_rate_steps are "
            "steps of the job"
        ),
        global_batch_size=own.train_batch_size * world_size,
        warmup_steps=_WARMUP_STEPS,
        total_steps=own.total_steps,
        changes=(
            RateChange(0, None, rate),
            RateChange(first + 1, None, rate * 0.1),
            RateChange(second + 1, None, rate * 0.01),
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


def _own(hyperparameters: BaseModel) -> Tf2SmddpHyperparameters:
    assert isinstance(hyperparameters, Tf2SmddpHyperparameters)
    return hyperparameters
