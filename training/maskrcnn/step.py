"""One training step, the same on N ranks as on one rank with their pictures together."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn
from torch.amp import GradScaler
from torch.nn.utils import clip_grads_with_norm_, get_total_norm
from torch.optim import Optimizer

from training.errors import JobFailed
from training.maskrcnn.data.batch import Batch
from training.maskrcnn.engines.engine import Engine
from training.maskrcnn.hyperparameters import Hyperparameters
from training.maskrcnn.model.losses import LOSSES, NAMES, Ratios
from training.maskrcnn.together import raise_together

AUTOCAST_TYPES = {"fp32": torch.float32, "bf16": torch.bfloat16, "fp16": torch.float16}


@dataclass(frozen=True)
class Totals:
    """What all ranks did in one step, the same on each of them."""

    sums: Mapping[str, float]
    counts: Mapping[str, float]
    is_stop_requested: bool
    broken_pictures: int
    """Pictures that could not be used, and were replaced."""


class Stepper:
    """Takes training steps with one model and optimizer."""

    def __init__(
        self,
        engine: Engine,
        model: nn.Module,
        optimizer: Optimizer,
        hyperparameters: Hyperparameters,
    ) -> None:
        self._engine = engine
        self._model, self._optimizer = engine.wrap(model, optimizer)
        self._parameters = [p for p in model.parameters() if p.requires_grad]
        self._precision = AUTOCAST_TYPES[hyperparameters.precision]
        self._clip = hyperparameters.gradient_clip
        self._scaler = GradScaler(engine.device.type, enabled=hyperparameters.precision == "fp16")

    def take(self, batch: Batch, *, learning_rate: float, is_stop_requested: bool) -> Totals:
        """Take one step; with a problem on any rank, none of them changes its weights.

        Raises:
            JobFailed: A loss or the gradient is not finite. The message names the pictures.
        """
        batch = batch.to(self._engine.device)
        with autocast(self._engine.device, self._precision):
            ratios: Ratios = self._model(batch.pixels, batch.sizes, batch.targets)
        totals = self._add_up(ratios, batch, is_stop_requested)
        self._check_losses(ratios, totals, batch)
        self._optimizer.zero_grad()
        torch.autograd.backward(self._scaler.scale(total_loss(ratios, totals)))
        with self._engine.summed_gradients(self._optimizer):
            self._update(learning_rate, batch)
        return totals

    def state_dict(self) -> dict[str, Any]:
        """Return what the next step depends on, besides the weights."""
        return {
            "optimizer": self._optimizer.state_dict(),
            "scaler": self._scaler.state_dict(),
        }

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        self._optimizer.load_state_dict(state["optimizer"])
        self._scaler.load_state_dict(state["scaler"])

    def _add_up(self, ratios: Ratios, batch: Batch, is_stop_requested: bool) -> Totals:
        """Add up everything that the ranks must agree on, in one small message."""
        numbers = torch.zeros(2 + 2 * len(NAMES), dtype=torch.float64, device=batch.pixels.device)
        numbers[0] = is_stop_requested
        numbers[1] = len(batch.broken)
        for place, name in enumerate(NAMES, start=2):
            numbers[place] = ratios[name].sum.detach()
            numbers[place + len(NAMES)] = ratios[name].count
        stop, broken, *values = self._engine.sum(numbers).tolist()
        return Totals(
            dict(zip(NAMES, values[: len(NAMES)], strict=True)),
            dict(zip(NAMES, values[len(NAMES) :], strict=True)),
            stop > 0,
            round(broken),
        )

    def _check_losses(self, ratios: Ratios, totals: Totals, batch: Batch) -> None:
        if all(_is_finite(totals.sums[name]) for name in LOSSES):
            return
        own = [name for name in LOSSES if not _is_finite(float(ratios[name].sum.detach()))]
        problem = None
        if own:
            problem = (
                f"rank {self._engine.rank}: {', '.join(own)} is not finite for images "
                f"{', '.join(batch.names)}; weights are those of the step before. Look at these "
                "pictures' annotations, or lower base_learning_rate or set gradient_clip"
            )
        raise_together(self._engine, problem)

    def _update(self, learning_rate: float, batch: Batch) -> None:
        self._scaler.unscale_(self._optimizer)
        norm = get_total_norm([p.grad for p in self._parameters if p.grad is not None])
        if not self._scaler.is_enabled() and not torch.isfinite(norm):
            # The sums are the same on all ranks: all raise, without asking each other.
            raise JobFailed(
                f"the gradient is not finite (norm {float(norm)}); this rank's images are "
                f"{', '.join(batch.names)}. Lower base_learning_rate or set gradient_clip"
            )
        if self._clip is not None:
            clip_grads_with_norm_(self._parameters, self._clip, norm)
        for group in self._optimizer.param_groups:
            group["lr"] = learning_rate
        self._scaler.step(self._optimizer)
        self._scaler.update()


def total_loss(ratios: Ratios, totals: Totals) -> Tensor:
    """Return this rank's part of the loss; the parts of all ranks add up to the loss."""
    parts = [ratios[name].sum / max(totals.counts[name], 1) for name in LOSSES]
    return torch.stack(parts).sum()


def autocast(device: torch.device, precision: torch.dtype) -> torch.autocast:
    """Return the context in which the network computes."""
    is_mixed = precision is not torch.float32
    return torch.autocast(device.type, precision if is_mixed else None, enabled=is_mixed)


def _is_finite(value: float) -> bool:
    return abs(value) < float("inf")
