"""Runs NVIDIA's TensorFlow 2 Mask R-CNN with SageMaker's data parallel library.

mask_rcnn_main.py of HerringForks/DeepLearningExamples@86ee4e9. Its own wrapper for SageMaker,
mask_rcnn_sm.py, passes everything through a shell and loses the exit code, so it is not used.
"""

import os
from typing import Any, Dict, List

from entrypoint.adapter_error import AdapterError
from entrypoint.job import Job
from entrypoint.tf_checkpoints import last_attempt, newest_in, next_attempt
from entrypoint.values import Values

STOPS_WITH_CHECKPOINT = False
"""SIGTERM ends a rank at once."""

PROGRAM = "/deep-learning-examples/TensorFlow2/Segmentation/MaskRCNN/mask_rcnn_main.py"

DEFAULTS = {
    "mode": "train",
    "data_train": "train2017",
    "data_val": "val2017",
    "checkpoint": "resnet-nhwc-2018-02-07",
    "init_learning_rate": "0.04",
    "learning_rate_steps": "3750,5000",
    "total_steps": "500",
    "train_batch_size": "4",
    "eval_samples": "5000",
    "eval_batch_size": "8",
    "num_steps_per_eval": "462",
    "eval_after_training": "False",
    "amp": "True",
    "xla": "True",
    "use_batched_nms": "True",
    "seed": "987",
    "bucket_cap_mb": "64",
}


def prepare(job: Job) -> None:
    _backbone(job, _values(job))


def command(job: Job) -> List[str]:
    """It begins anew each time: over a checkpoint of its own it loads the backbone's again."""
    values = _values(job)
    # mpi4py's runner ends all ranks when one of them fails.
    return [
        "python3",
        "-m",
        "mpi4py",
        PROGRAM,
        *(f"--{name}={value}" for name, value in _settings(job, values).items()),
        *_switches(values),
    ]


def environment(job: Job) -> Dict[str, str]:  # noqa: ARG001
    return {}


def model_files(job: Job) -> List[str]:
    folder = last_attempt(job.log)
    checkpoint = newest_in(folder) if folder is not None else None
    return list(checkpoint.files) if checkpoint is not None else []


def _settings(job: Job, values: Values) -> Dict[str, Any]:
    validation = values.text("data_val")
    return {
        "mode": values.choice("mode", ("train", "train_and_eval")),
        "checkpoint": _backbone(job, values),
        "eval_samples": values.count("eval_samples"),
        "init_learning_rate": values.number("init_learning_rate"),
        "learning_rate_steps": ",".join(map(str, values.items("learning_rate_steps"))),
        "model_dir": next_attempt(job.log),
        "num_steps_per_eval": values.positive("num_steps_per_eval"),
        "total_steps": values.positive("total_steps"),
        "train_batch_size": values.positive("train_batch_size"),
        "eval_batch_size": values.positive("eval_batch_size"),
        "training_file_pattern": _records(job, values.text("data_train")),
        "validation_file_pattern": _records(job, validation),
        "val_json_file": os.path.join(job.data, "annotations", f"instances_{validation}.json"),
        "seed": values.count("seed"),
        "bucket_cap_mb": values.positive("bucket_cap_mb"),
        # Every rank writes it; what it says is on stdout too.
        "log_path": "/tmp/mrcnn.json",  # noqa: S108  (the container has no other user)
    }


def _switches(values: Values) -> List[str]:
    names = ("amp", "use_batched_nms", "xla", "eval_after_training")
    return [
        *(f"--{name}" if values.flag(name) else f"--no{name}" for name in names),
        "--nouse_custom_box_proposals_op",
    ]


def _values(job: Job) -> Values:
    return Values(job.hyperparameters, DEFAULTS)


def _records(job: Job, split: str) -> str:
    return os.path.join(job.data, f"{split}-*.tfrecord")


def _backbone(job: Job, values: Values) -> str:
    """Return the checkpoint in the folder that the hyperparameter names, as TensorFlow calls it."""
    folder = os.path.join(job.data, "pretrained-models", values.text("checkpoint"))
    checkpoint = newest_in(folder)
    if checkpoint is None:
        raise AdapterError(
            f"hyperparameter checkpoint: {folder}: no checkpoint of TensorFlow in this folder: "
            "expected model.ckpt-112603.index and its .data file"
        )
    return checkpoint.prefix
