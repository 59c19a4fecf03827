"""What the plan of the original tutorial's job has otherwise than its Estimator, and why."""

from __future__ import annotations

import re
from dataclasses import dataclass


@dataclass(frozen=True)
class Allowed:
    """Fields that may differ."""

    field: str
    """A pattern of their paths."""
    what: str
    """In the docs' table."""
    why: str


ALLOWED = (
    Allowed(
        r"AlgorithmSpecification\.TrainingImage",
        "the image",
        "it is built from this project's docker/tensorpack and tagged by its contents; TensorPack "
        "is at the same commit",
    ),
    Allowed(
        r"AlgorithmSpecification\.MetricDefinitions\[mAP\((bbox|segm)\)/IoU=0\.5\]\.Regex",
        r"the regexes of `mAP(bbox)/IoU=0.5` and `mAP(segm)/IoU=0.5` have `\s+` for `\s*`",
        "the original's also find `IoU=0.5:0.95: …`, and take `0.95:` for the number",
    ),
    Allowed(
        r"HyperParameters\.(backbone_weights|batch_size_per_gpu|data_train|data_val"
        r"|horovod_cycle_time|horovod_fusion_threshold|images_per_epoch|load_model|lr_schedule|nccl_min_rings"
        r"|precision|resnet_arch|checkpoint_period)",
        "all hyperparameters are sent, and not only the four that the notebook sets",
        "the values are the defaults of the original's entry script, or what TensorPack does "
        "anyway (one picture a GPU, fp32, a checkpoint each epoch): the request tells what ran",
    ),
    Allowed(
        r"Environment",
        "variables for the containers",
        "the entry point of all images reads them; the original's had one entry script an image",
    ),
    Allowed(
        r"OutputDataConfig\.KmsKeyId|ResourceConfig\.VolumeKmsKeyId",
        "a KMS key for results and volumes",
        "encryption at rest with the stack's own key",
    ),
    Allowed(
        r"TensorBoardOutputConfig",
        "TensorBoard's events go to S3 while the job runs",
        "the original's stay on the file system; `sagemaker.tensorboard: false` leaves this out",
    ),
    Allowed(
        r"Tags",
        "tags `Project` and `Job`",
        "costs are told by them, and the roles' permissions go by `Project`",
    ),
)


def reason(field: str) -> Allowed | None:
    """Return what allows a field to differ."""
    return next((each for each in ALLOWED if re.fullmatch(each.field, field)), None)


def docs_table() -> str:
    """Return the table of the docs."""
    rows = [f"| {each.what} | {each.why} |" for each in ALLOWED]
    return "\n".join(["| what differs | why |", "| --- | --- |", *rows])
