"""What the adapters of TensorPack's Mask R-CNN and of AWS's variant of it share.

Their `train.py` takes `--logdir`, `--load` and `--config KEY=VALUE ...`. A value goes through
Python's `eval`, unless the key holds a text: so it has to be a literal here, which cannot run.
Arguments and their order are those of the original tutorial's entry script, see
training/algorithms/reference_hyperparameters.py.
"""

import ast
import glob
import json
import os
import re
from typing import Any, Dict, List, Mapping, Sequence

from .adapter_error import AdapterError
from .job import Job
from .tf_checkpoints import last_attempt, newest
from .values import Values

PREFIX = "config:"
"""Of hyperparameters that are keys of the program's own configuration."""

DEFAULTS = {
    "mode_fpn": "True",
    "mode_mask": "True",
    "resnet_arch": "resnet50",
    "batch_norm": "FreezeBN",
    "backbone_weights": "ImageNet-R50-AlignPadding.npz",
    "load_model": "None",
    "images_per_epoch": "120000",
    "eval_period": "1",
    "horovod_cycle_time": "0.5",
    "horovod_fusion_threshold": "67108864",
    "nccl_min_rings": "8",
}

_RESNET_NUM_BLOCKS = {"resnet50": "[3, 4, 6, 3]", "resnet101": "[3, 4, 23, 3]"}
_KEY = re.compile(r"[A-Z][A-Z0-9_]*(\.[A-Z][A-Z0-9_]*)*")


def as_arguments(configuration: Mapping[str, Any]) -> List[str]:
    return [f"{key}={value}" for key, value in configuration.items()]


def model_configuration(job: Job, values: Values) -> Dict[str, Any]:
    """Return the configuration of model and data."""
    depth = values.choice("resnet_arch", sorted(_RESNET_NUM_BLOCKS))
    validation = "".join(f"{json.dumps(name)}," for name in values.names("data_val"))
    return {
        "DATA.BASEDIR": job.data,
        "MODE_FPN": values.flag("mode_fpn"),
        "MODE_MASK": values.flag("mode_mask"),
        "BACKBONE.RESNET_NUM_BLOCKS": _RESNET_NUM_BLOCKS[depth],
        "BACKBONE.WEIGHTS": _pretrained(job, values.text("backbone_weights")),
        "BACKBONE.NORM": values.choice("batch_norm", ("FreezeBN", "SyncBN", "GN", "None")),
        "DATA.TRAIN": json.dumps(values.names("data_train")),
        "DATA.VAL": f"({validation})",
    }


def passed_configuration(values: Values, text_keys: Sequence[str]) -> Dict[str, str]:
    """Return what the `config:KEY` hyperparameters set.

    Args:
        text_keys: Keys that hold a text, which is not evaluated.

    Raises:
        AdapterError: A key or value is none that may be passed on.
    """
    passed = values.with_prefix(PREFIX)
    for key, text in passed.items():
        if not _KEY.fullmatch(key):
            raise AdapterError(f"hyperparameter config:{key}: no key of a configuration")
        if key not in text_keys:
            _check_literal(key, text)
    return passed


def steps_per_epoch(values: Values, images_per_step: int) -> int:
    pictures = values.count("images_per_epoch")
    if pictures < images_per_step:
        raise AdapterError(
            f"hyperparameter images_per_epoch: {pictures}: an epoch has no step with "
            f"{images_per_step} pictures in it; give {images_per_step} or more"
        )
    return pictures // images_per_step


def resume_configuration(job: Job, steps: int) -> Dict[str, int]:
    """Return what goes on after the last whole epoch of an earlier attempt.

    Args:
        steps: Of an epoch.
    """
    checkpoint = newest(job.log)
    if checkpoint is None:
        return {}
    return {"TRAIN.STARTING_EPOCH": checkpoint.step // steps + 1}


def load_arguments(job: Job, values: Values) -> List[str]:
    """Return `--load` with the newest checkpoint, else with `load_model`, else nothing."""
    checkpoint = newest(job.log)
    if checkpoint is not None:
        return ["--load", checkpoint.prefix]
    model = values.optional_text("load_model")
    return ["--load", _pretrained(job, model)] if model else []


def environment(values: Values) -> Dict[str, str]:
    return {
        "HOROVOD_CYCLE_TIME": str(values.number("horovod_cycle_time")),
        "HOROVOD_FUSION_THRESHOLD": str(values.count("horovod_fusion_threshold")),
        "NCCL_MIN_NRINGS": str(values.count("nccl_min_rings")),
    }


def check_weights(job: Job, values: Values) -> None:
    """Look for the weights that the job begins with.

    Raises:
        AdapterError: They are not there.
    """
    name = "load_model" if values.optional_text("load_model") else "backbone_weights"
    path = _pretrained(job, values.text(name))
    # A checkpoint of TensorFlow is named without its endings.
    if not os.path.isfile(path) and not os.path.isfile(path + ".index"):
        raise AdapterError(
            f"hyperparameter {name}: {path}: no such file; put it into pretrained-models of the "
            "train channel"
        )


def model_files(job: Job) -> List[str]:
    """Return the newest checkpoint and what the last attempt says of the training."""
    checkpoint = newest(job.log)
    files = [] if checkpoint is None else list(checkpoint.files)
    folder = last_attempt(job.log)
    if folder is not None:
        for pattern in ("stats.json", "events.*", "graph-*.meta"):
            files += sorted(glob.glob(os.path.join(glob.escape(folder), pattern)))
    return files


def _pretrained(job: Job, name: str) -> str:
    return os.path.join(job.data, "pretrained-models", name)


def _check_literal(key: str, text: str) -> None:
    try:
        ast.literal_eval(text)
    except (ValueError, SyntaxError, MemoryError, RecursionError, TypeError):
        raise AdapterError(
            f"hyperparameter config:{key}: {text!r}: expected a number, True, False, None, or a "
            "list or tuple, as Python writes them"
        ) from None
