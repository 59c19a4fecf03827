"""model.pt: a trained model with what is needed to build it again."""

from __future__ import annotations

import io
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from training.errors import JobFailed, UsageError
from training.maskrcnn.files import write_result
from training.maskrcnn.hyperparameters import Hyperparameters, read_hyperparameters
from training.maskrcnn.model.fitting import averaged_or_own, check_finite, misfit
from training.maskrcnn.model.maskrcnn import MaskRCNN, build_model
from training.maskrcnn.torch_file import is_damaged, read_torch_file

PROBLEM = "no model.pt or step-*.pt of this trainer"
PARTS = ("model", "hyperparameters", "categories")


@dataclass(frozen=True)
class TrainedModel:
    """A model ready to detect."""

    model: MaskRCNN
    hyperparameters: Hyperparameters
    categories: Mapping[int, str]
    """Category id to name; label 1 is the first."""


def save_model(path: Path, trained: TrainedModel) -> None:
    """Write model.pt.

    Raises:
        JobFailed: It cannot be written.
    """
    buffer = io.BytesIO()
    torch.save(
        {
            "model": trained.model.state_dict(),
            "hyperparameters": trained.hyperparameters.model_dump(mode="json"),
            "categories": dict(trained.categories),
        },
        buffer,
    )
    write_result(path, buffer.getvalue())


def load_model(path: Path, device: torch.device) -> TrainedModel:
    """Read model.pt or a checkpoint and build its model, in evaluation mode.

    Of a checkpoint with averaged weights (`ema_decay`) it takes those, as model.pt has them.

    Raises:
        JobFailed: It cannot be read, is something else or damaged, or a weight is not finite.
    """
    content = _read(path)
    try:
        hyperparameters = read_hyperparameters(content["hyperparameters"], source=str(path))
    except UsageError as error:
        reason = str(error).partition("\n")[0].removeprefix(f"{path}: ")
        raise JobFailed(f"{path}: {PROBLEM} (its hyperparameters: {reason})") from error
    categories, weights = content["categories"], averaged_or_own(content)
    check_finite(weights, path)
    model = build_model(
        hyperparameters, categories=len(categories), sum_over_ranks=lambda tensor: tensor
    )
    if (problem := misfit(model, weights)) is not None:
        raise JobFailed(f"{path}: its weights do not fit its hyperparameters: {problem}")
    model.load_state_dict(weights, strict=False)
    return TrainedModel(model.to(device).eval(), hyperparameters, categories)


def _read(path: Path) -> dict[str, Any]:
    content: Any = read_torch_file(path, problem=PROBLEM)
    has = content if isinstance(content, dict) else {}
    if absent := [part for part in PARTS if not isinstance(has.get(part), dict)]:
        raise JobFailed(f"{path}: {PROBLEM} (it has no {', '.join(absent)})")
    if is_damaged(path):
        raise JobFailed(f"{path}: damaged, it differs from its own checksums")
    return has
