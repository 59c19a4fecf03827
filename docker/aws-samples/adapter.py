"""Runs AWS's optimized Mask R-CNN, aws-samples/mask-rcnn-tensorflow@99dda64: MaskRCNN/train.py."""

from typing import Any, Dict, List

from entrypoint import tensorpack_family as family
from entrypoint.job import Job
from entrypoint.tf_checkpoints import next_attempt
from entrypoint.values import Values

STOPS_WITH_CHECKPOINT = False
"""SIGTERM ends a rank at once; a checkpoint is written after every epoch (patches.py)."""

FOLDER = "/mask-rcnn-tensorflow"
"""Where the image has it."""

DEFAULTS = {
    **family.DEFAULTS,
    "data_train": "train2017",
    "data_val": "val2017",
    "lr_epoch_schedule": "[(16, 0.1), (20, 0.01), (24, None)]",
    "batch_size_per_gpu": "4",
    "precision": "fp16",
}

TEXT_KEYS = ("FPN.PROPOSAL_MODE", "FPN.NORM", "FPN.BOXCLASS_HEAD_FUNC", "FPN.MRCNN_HEAD_FUNC")
"""Keys of its config.py that hold a text and have no hyperparameter of their own."""


def prepare(job: Job) -> None:
    family.check_weights(job, _values(job))


def command(job: Job) -> List[str]:
    values = _values(job)
    values.choice("precision", ("fp16",))
    return [
        "env",
        "-C",
        FOLDER,
        "python3",
        f"{FOLDER}/MaskRCNN/train.py",
        "--logdir",
        next_attempt(job.log),
        "--fp16",
        "--throughput_log_freq=2000",
        "--images_per_epoch",
        str(values.count("images_per_epoch")),
        "--config",
        *family.as_arguments(_configuration(job, values)),
        *family.load_arguments(job, values),
    ]


def environment(job: Job) -> Dict[str, str]:
    # Scales the loss; without it gradients of fp16 vanish.
    return {**family.environment(_values(job)), "TENSORPACK_FP16": "1"}


def model_files(job: Job) -> List[str]:
    return family.model_files(job)


def _configuration(job: Job, values: Values) -> Dict[str, Any]:
    batch_size = values.positive("batch_size_per_gpu")
    steps = family.steps_per_epoch(values, batch_size * job.world_size)
    return {
        **family.model_configuration(job, values),
        "TRAIN.BATCH_SIZE_PER_GPU": batch_size,
        "TRAIN.EVAL_PERIOD": values.positive("eval_period"),
        "TRAIN.LR_EPOCH_SCHEDULE": values.pairs("lr_epoch_schedule"),
        "RPN.TOPK_PER_IMAGE": True,
        "PREPROC.PREDEFINED_PADDING": True,
        "TRAIN.GRADIENT_CLIP": 0,
        "TRAINER": "horovod",
        **family.passed_configuration(values, TEXT_KEYS),
        **family.resume_configuration(job, steps),
    }


def _values(job: Job) -> Values:
    return Values(job.hyperparameters, DEFAULTS, family.PREFIX)
