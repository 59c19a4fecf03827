"""model.pt: a trained model with what is needed to build it again."""

from __future__ import annotations

import io
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import torch

from training.errors import JobFailed
from training.maskrcnn.files import write_result
from training.maskrcnn.hyperparameters import Hyperparameters, read_hyperparameters
from training.maskrcnn.model.maskrcnn import MaskRCNN, build_model


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
        JobFailed: It cannot be read.
    """
    try:
        content = torch.load(path, map_location="cpu", weights_only=True)
        hyperparameters = read_hyperparameters(content["hyperparameters"], source=str(path))
        categories = content["categories"]
        model = build_model(
            hyperparameters, categories=len(categories), sum_over_ranks=lambda tensor: tensor
        )
        average = content.get("stepper", {}).get("average", {}).get("weights", {})
        model.load_state_dict({**content["model"], **average})
    except Exception as error:  # torch.load raises many kinds
        reason = f"{type(error).__name__}: {error}".partition("\n")[0]
        raise JobFailed(f"{path}: no model.pt or step-*.pt of this trainer ({reason})") from error
    return TrainedModel(model.to(device).eval(), hyperparameters, categories)
