"""The hyperparameters that charts have as keys, with the defaults of `training.algorithms`."""

from __future__ import annotations

from pydantic import BaseModel

from training import algorithms
from training.field_docs import field_docs
from training.hyperparameter_text import to_text

from .key import PYTHON_FLAG, Key, Schema, one_of, optional, quoted, text, whole

CHART_NAMES = {"batch_norm": "backbone_norm", "eval_period": "eval_period_in_epochs"}
"""Hyperparameters that the old charts knew under another name."""

_NAMES: Schema = {"type": ["string", "array"], "minLength": 1, "items": {"type": "string"}}
_SCHEDULE: Schema = {"type": ["string", "array"], "minLength": 2}
_FILE = text(r"^[A-Za-z0-9_][A-Za-z0-9_.+/-]*$")

_RULES: dict[str, Schema] = {
    "mode_fpn": PYTHON_FLAG,
    "mode_mask": PYTHON_FLAG,
    "resnet_arch": one_of("resnet50", "resnet101"),
    "batch_norm": one_of("FreezeBN", "SyncBN", "GN", "None"),
    "backbone_weights": _FILE,
    "load_model": text(r"^[A-Za-z0-9_/][A-Za-z0-9_.+/-]*$"),
    "data_train": _NAMES,
    "data_val": _NAMES,
    "images_per_epoch": whole(1),
    "eval_period": whole(1),
    "lr_schedule": _SCHEDULE,
    "lr_epoch_schedule": _SCHEDULE,
    "batch_size_per_gpu": whole(1),
    "checkpoint_period": whole(1),
    "horovod_cycle_time": quoted({"type": "number", "exclusiveMinimum": 0}),
    "horovod_fusion_threshold": quoted(whole(0)),
    "nccl_min_rings": whole(1),
}

_RULES_OF: dict[str, dict[str, Schema]] = {
    "tensorpack": {
        "batch_size_per_gpu": one_of(1),
        "precision": one_of("fp32"),
    },
    "aws-samples": {
        "mode_fpn": one_of(True, "True"),
        "batch_size_per_gpu": whole(1, 4),
        "precision": one_of("fp16"),
    },
    "horovod": {
        "resnet_arch": one_of("resnet18", "resnet50", "resnet101", "mobilenet"),
        "precision": one_of("bf16", "fp16", "fp32"),
    },
}

_LEFT_TO_THE_TRAINER = {
    "horovod": (
        "mode_fpn", "mode_mask", "resnet_arch", "batch_norm", "backbone_weights", "load_model",
        "images_per_epoch", "eval_period", "data_train", "data_val", "lr_schedule",
        "lr_epoch_schedule", "batch_size_per_gpu", "precision", "checkpoint_period",
        "horovod_cycle_time", "horovod_fusion_threshold",
    )
}  # fmt: skip
"""The trainer has many more than a chart can list: these are keys, the rest goes through
`job.hyperparameters`."""

_OLD = {
    "batch_norm": "backbone_norm",
    "eval_period": "eval_period_in_epochs",
    "backbone_weights": "the same, a path from the file system's root; now a name in the data's "
    "pretrained-models",
    "images_per_epoch": "the same; in chart maskrcnn steps_per_epoch, of all GPUs together",
    "precision": "none",
    "resnet_arch": "none",
    "load_model": "none",
    "checkpoint_period": "extra_config 'TRAIN.CHECKPOINT_PERIOD=2'",
    "nccl_min_rings": "the same, until 2022",
    "horovod_cycle_time": "the same, until 2022",
    "horovod_fusion_threshold": "the same, until 2022",
}


def model_of(algorithm: str) -> type[BaseModel]:
    return algorithms.load(algorithm).HYPERPARAMETERS


def names_of(algorithm: str) -> dict[str, str]:
    """Return key of the chart to hyperparameter."""
    fields = [name for name in model_of(algorithm).model_fields if name != "config"]
    names = _LEFT_TO_THE_TRAINER.get(algorithm, fields)
    return {CHART_NAMES.get(name, name): name for name in names}


def keys_of(algorithm: str) -> tuple[Key, ...]:
    """Return the keys, each with the algorithm's own default and description."""
    model = model_of(algorithm)
    defaults, about = model().model_dump(), field_docs(model)
    # What the trainer fills in by itself once either schedule is given stays unsaid.
    unsaid = {"lr_epoch_schedule"} if algorithm == "horovod" else set()
    keys = []
    for key, name in names_of(algorithm).items():
        default = None if name in unsaid else _plain(defaults[name])
        rule = _RULES_OF[algorithm].get(name, _RULES.get(name))
        assert rule is not None, name
        keys.append(
            Key(
                name=key,
                default=default,
                rule=optional(rule) if default is None else rule,
                about=_one_line(about[name]),
                old=_OLD.get(name, "the same"),
            )
        )
    return tuple(keys)


def _plain(value: object) -> object:
    """Return a default as values.yaml spells it: lists as the text that the job reads."""
    if isinstance(value, bool):
        return str(value)
    if value is None or isinstance(value, int | float | str):
        return value
    assert isinstance(value, list | tuple)
    if value and all(isinstance(each, str) for each in value):
        return ",".join(value)
    return to_text(value)


def _one_line(description: str) -> str:
    return " ".join(description.split())
