"""One step on the device against the same step on the CPU."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from statistics import quantiles
from typing import Any

import torch
from torch import Tensor

from bench.gpu.pictures import our_batch
from bench.gpu.training import Shape, engine_on, our_model, our_settings
from training.maskrcnn.model.losses import LOSSES
from training.maskrcnn.optimizer import build_optimizer
from training.maskrcnn.step import Stepper

LOSS_AT_MOST = 1e-4
GRADIENTS_AT_MOST = 1e-3
BF16_LOSS_AT_MOST = 0.1
"""Largest differences, as shares; of gradients, of nine parameters in ten: rounding may turn one
ReLU on or off, which single parameters see."""
SPREAD = 50
"""Times the random weights of the proposals' scores: with all of them alike to the sixth digit,
rounding would choose other proposals, as it does not in a trained network."""


@dataclass(frozen=True)
class Taken:
    """What a step left."""

    losses: dict[str, float]
    gradients: dict[str, Tensor]


@dataclass(frozen=True)
class Correctness:
    """Differences from the CPU in fp32, as shares."""

    loss: float
    gradient_p90: float
    gradient_largest: float
    bf16_loss: float

    @property
    def passed(self) -> bool:
        return (
            self.loss <= LOSS_AT_MOST
            and self.gradient_p90 <= GRADIENTS_AT_MOST
            and self.bf16_loss <= BF16_LOSS_AT_MOST
        )


def check_step(
    shape: Shape,
    state: Mapping[str, Tensor],
    changes: Mapping[str, Any],
    device: torch.device,
) -> Correctness:
    """Take a step of the same pictures and weights on both."""
    # TF32 has ten bits: this is about the arithmetic that was asked for.
    torch.backends.cudnn.allow_tf32 = False
    try:
        base = _take(shape, state, {**changes, "precision": "fp32"}, torch.device("cpu"))
        same = _take(shape, state, {**changes, "precision": "fp32"}, device)
        mixed = _take(shape, state, {**changes, "precision": "bf16"}, device)
    finally:
        torch.backends.cudnn.allow_tf32 = True
    errors = [
        float((same.gradients[name] - wanted).norm() / wanted.norm().clamp(min=1e-12))
        for name, wanted in base.gradients.items()
    ]
    return Correctness(
        loss=_difference(same.losses, base.losses),
        gradient_p90=quantiles(errors, n=10)[-1],
        gradient_largest=max(errors),
        bf16_loss=abs(sum(mixed.losses.values()) / sum(base.losses.values()) - 1),
    )


def _difference(losses: Mapping[str, float], wanted: Mapping[str, float]) -> float:
    return max(abs(losses[name] - wanted[name]) / max(abs(wanted[name]), 1e-6) for name in wanted)


def _take(
    shape: Shape, state: Mapping[str, Tensor], changes: Mapping[str, Any], device: torch.device
) -> Taken:
    settings = our_settings(changes)
    model = our_model(settings, state, device)
    with torch.no_grad():
        model.get_parameter("rpn.head.cls_logits.weight").mul_(SPREAD)
    stepper = Stepper(
        engine_on(device), model, build_optimizer(model, settings), settings, reads_late=False
    )
    batch = our_batch(shape.scenes(0), shape.size)
    (totals,) = stepper.take([batch], learning_rate=0.0, is_stop_requested=False)
    gradients = {
        name: parameter.grad.detach().cpu()
        for name, parameter in model.named_parameters()
        if parameter.grad is not None
    }
    losses = {name: totals.sums[name] / max(totals.counts[name], 1) for name in LOSSES}
    return Taken(losses, gradients)
