"""Both trainings, ready to take steps on one device."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import cycle
from typing import Any

import torch
from torch import Tensor

from bench.gpu.pictures import CATEGORIES, Scene, our_batch, reference_batch
from bench.gpu.settings import read_settings
from bench.reference_loop import ReferenceTraining, reference_optimization
from bench.reference_model import calm, reference_like
from training.maskrcnn.engines.torch_engine import TorchEngine
from training.maskrcnn.model.maskrcnn import MaskRCNN, build_model
from training.maskrcnn.optimizer import build_optimizer
from training.maskrcnn.step import Stepper

DIFFERENT_BATCHES = 2
"""They come again and again: drawing them takes longer than a step."""
LEARNING_RATE = 1e-4
WEIGHTS_SEED = 0
RESIZED = 5 / 3
"""Times the sides of the file that the network sees: 480 x 800 to 800 x 1333."""

Step = Callable[[], None]


@dataclass(frozen=True)
class Shape:
    """Pictures of a run.

    Attributes:
        size: Height and width as the network sees them, without padding.
    """

    size: tuple[int, int]
    batch_size: int

    def scenes(self, batch: int) -> list[Scene]:
        first = batch * self.batch_size
        return [Scene(seed) for seed in range(first, first + self.batch_size)]


@dataclass(frozen=True)
class Variant:
    """Hyperparameters of ours that are tried."""

    label: str
    changes: Mapping[str, Any]


def weights(changes: Mapping[str, Any]) -> dict[str, Tensor]:
    """Return the random weights that both begin with; the names are the same."""
    torch.manual_seed(WEIGHTS_SEED)
    settings = our_settings(changes)
    model = build_model(settings, categories=CATEGORIES, sum_over_ranks=lambda tensor: tensor)
    return calm(model.state_dict())


def our_model(settings: Any, state: Mapping[str, Tensor], device: torch.device) -> MaskRCNN:
    """Build ours with the weights."""
    model = build_model(settings, categories=CATEGORIES, sum_over_ranks=lambda tensor: tensor)
    model.load_state_dict(state)
    return model.to(device).train()


def our_settings(changes: Mapping[str, Any]) -> Any:
    """Return hyperparameters that train the stages that the reference trains."""
    return read_settings({"trainable_backbone_layers": 3, **changes})


def engine_on(device: torch.device) -> TorchEngine:
    engine = TorchEngine()
    engine.device = device
    return engine


def our_training(
    variant: Variant, shape: Shape, state: Mapping[str, Tensor], device: torch.device
) -> Step:
    """Return what takes one step of ours."""
    settings = our_settings(variant.changes)
    model = our_model(settings, state, device)
    if settings.compile:
        model.compile_layers()
    stepper = Stepper(engine_on(device), model, build_optimizer(model, settings), settings)
    batches = [our_batch(shape.scenes(index), shape.size) for index in range(DIFFERENT_BATCHES)]
    if device.type == "cuda":
        batches = [batch.pin_memory() for batch in batches]
    source = cycle(batches)

    def step() -> None:
        stepper.take([next(source)], learning_rate=LEARNING_RATE, is_stop_requested=False)

    return step


def reference_training(
    shape: Shape, state: Mapping[str, Tensor], device: torch.device, changes: Mapping[str, Any]
) -> Step:
    """Return what takes one step of the reference."""
    height, width = shape.size
    settings = our_settings({**changes, "image_short_sides": [height], "image_max_side": width})
    model = reference_like(settings, state, outputs=CATEGORIES + 1).to(device)
    optimization = reference_optimization(model, batch_size=shape.batch_size)
    training = ReferenceTraining(model, optimization, device=device)
    file_size = (round(height / RESIZED), round(width / RESIZED))
    source = cycle(
        [reference_batch(shape.scenes(index), file_size) for index in range(DIFFERENT_BATCHES)]
    )

    def step() -> None:
        training.take(next(source))

    return step
