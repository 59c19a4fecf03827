"""Runs TensorPack's Mask R-CNN: examples/FasterRCNN/train.py of tensorpack/tensorpack@db541e8."""

from typing import Any, Dict, List

from entrypoint import tensorpack_family as family
from entrypoint.job import Job
from entrypoint.tf_checkpoints import next_attempt
from entrypoint.values import Values

STOPS_WITH_CHECKPOINT = False
"""SIGTERM ends a rank at once; checkpoints are written every `checkpoint_period` epochs and at the
end."""

PROGRAM = "/tensorpack/examples/FasterRCNN/train.py"

DEFAULTS = {
    **family.DEFAULTS,
    "data_train": "coco_train2017",
    "data_val": "coco_val2017",
    "lr_schedule": "[240000, 320000, 360000]",
    "checkpoint_period": "1",
    "batch_size_per_gpu": "1",
    "precision": "fp32",
}

TEXT_KEYS = ("FPN.PROPOSAL_MODE", "FPN.NORM", "FPN.FRCNN_HEAD_FUNC", "FPN.MRCNN_HEAD_FUNC")
"""Keys of its config.py that hold a text and have no hyperparameter of their own."""


def prepare(job: Job) -> None:
    family.check_weights(job, _values(job))


def command(job: Job) -> List[str]:
    values = _values(job)
    return [
        "python3",
        PROGRAM,
        "--logdir",
        next_attempt(job.log),
        "--config",
        *family.as_arguments(_configuration(job, values)),
        *family.load_arguments(job, values),
    ]


def environment(job: Job) -> Dict[str, str]:
    return family.environment(_values(job))


def model_files(job: Job) -> List[str]:
    return family.model_files(job)


def _configuration(job: Job, values: Values) -> Dict[str, Any]:
    # It has no setting for these two.
    values.choice("precision", ("fp32",))
    batch_size = int(values.choice("batch_size_per_gpu", ("1",)))
    steps = family.steps_per_epoch(values, batch_size * job.world_size)
    return {
        **family.model_configuration(job, values),
        "TRAIN.STEPS_PER_EPOCH": steps,
        "TRAIN.EVAL_PERIOD": values.positive("eval_period"),
        "TRAIN.CHECKPOINT_PERIOD": values.positive("checkpoint_period"),
        "TRAIN.LR_SCHEDULE": values.items("lr_schedule"),
        "TRAINER": "horovod",
        **family.passed_configuration(values, TEXT_KEYS),
        **family.resume_configuration(job, steps),
    }


def _values(job: Job) -> Values:
    return Values(job.hyperparameters, DEFAULTS, family.PREFIX)
