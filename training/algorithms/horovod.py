"""The first-party trainer: PyTorch, torchvision's Mask R-CNN, Horovod."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

from pydantic import BaseModel

from training.maskrcnn.hyperparameters import Hyperparameters

HYPERPARAMETERS = Hyperparameters


def command(*, data: str, log_dir: str, hyperparameters: str, resume: bool) -> list[str]:
    """See `training.algorithms.Algorithm`."""
    return [
        "-m",
        "training.maskrcnn.train",
        "--data",
        data,
        "--log-dir",
        log_dir,
        "--hyperparameters",
        hyperparameters,
        "--engine",
        "horovod",
        "--resume",
        "auto" if resume else "never",
    ]


def splits(hyperparameters: BaseModel) -> Sequence[str]:
    """See `training.algorithms.Algorithm`."""
    own = _own(hyperparameters)
    return list(dict.fromkeys([*own.data_train, *own.data_val]))


def weight_files(hyperparameters: BaseModel) -> Mapping[str, str]:
    """See `training.algorithms.Algorithm`."""
    return _own(hyperparameters).weight_files()


def bad_annotations(hyperparameters: BaseModel) -> Literal["stop", "skip"]:
    """See `training.algorithms.Algorithm`."""
    return _own(hyperparameters).bad_annotations


def _own(hyperparameters: BaseModel) -> Hyperparameters:
    assert isinstance(hyperparameters, Hyperparameters)
    return hyperparameters
