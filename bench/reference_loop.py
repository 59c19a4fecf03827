"""Training as torchvision's own detection reference does it, for comparison: the loop.

Written from reading https://github.com/pytorch/vision/tree/release/0.29/references/detection
(`train.py`, `engine.py`, `utils.py`) with its defaults: SGD with momentum 0.9 and weight decay
1e-4 on all parameters, a rate of 0.02 at 16 pictures that grows from a thousandth over 1,000
steps, fp32, every loss read out at every step, and smoothed over 20 steps for its log line. It
needs nothing but torch and torchvision.
"""

from __future__ import annotations

import math
from collections import defaultdict, deque
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.utils import clip_grad_norm_
from torch.optim import SGD, Optimizer
from torch.optim.lr_scheduler import LinearLR, LRScheduler

RATE_A_PICTURE = 0.02 / 16
MOMENTUM = 0.9
WEIGHT_DECAY = 1e-4
WARMUP_STEPS = 1000
WARMUP_FACTOR = 1 / 1000
SMOOTHED_STEPS = 20

ReferenceTarget = dict[str, Tensor]
ReferenceBatch = tuple[Sequence[Tensor], Sequence[ReferenceTarget]]
"""Pictures, (3, H, W) float32 from 0 to 1, and their `boxes`, `labels` and `masks`."""


@dataclass(frozen=True)
class Optimization:
    """An optimizer and its rates."""

    optimizer: Optimizer
    schedule: LRScheduler


def reference_optimization(model: nn.Module, *, batch_size: int) -> Optimization:
    """Return the reference's default, its rate in proportion to the batch."""
    parameters = [p for p in model.parameters() if p.requires_grad]
    rate = RATE_A_PICTURE * batch_size
    optimizer = SGD(parameters, lr=rate, momentum=MOMENTUM, weight_decay=WEIGHT_DECAY)
    return Optimization(
        optimizer, LinearLR(optimizer, start_factor=WARMUP_FACTOR, total_iters=WARMUP_STEPS)
    )


class ReferenceTraining:
    """The reference's loop, a step at a time."""

    def __init__(
        self,
        model: nn.Module,
        optimization: Optimization,
        *,
        device: torch.device,
        autocast: bool = False,
        clip: float | None = None,
    ) -> None:
        """Args:
        autocast: Compute in bf16, which is not the reference's default.
        clip: Largest norm of the gradient, which the reference does not limit.
        """
        self._model = model.train()
        self._optimizer = optimization.optimizer
        self._schedule = optimization.schedule
        self._device = device
        self._is_autocast = autocast
        self._clip = clip
        self._log = SmoothedLog()

    def take(self, batch: ReferenceBatch) -> dict[str, float]:
        """Take one step and return its losses.

        Raises:
            ValueError: The loss is not finite.
        """
        images = [image.to(self._device) for image in batch[0]]
        targets = [
            {key: value.to(self._device) for key, value in target.items()} for target in batch[1]
        ]
        with self._autocast():
            losses: dict[str, Tensor] = self._model(images, targets)
            total = torch.stack(list(losses.values())).sum()
        value = total.item()
        if not math.isfinite(value):
            raise ValueError(f"the reference's loss is {value}")
        self._optimizer.zero_grad()
        total.backward()  # type: ignore[no-untyped-call]
        if self._clip is not None:
            clip_grad_norm_(self._model.parameters(), self._clip)
        self._optimizer.step()
        self._schedule.step()
        return self._log.add({**losses, "loss": total})

    def _autocast(self) -> AbstractContextManager[Any]:
        if not self._is_autocast:
            return nullcontext()
        return torch.autocast(self._device.type, torch.bfloat16)


class SmoothedLog:
    """Losses over the last steps; every 20 steps it makes the line that the reference prints."""

    def __init__(self) -> None:
        self._windows: dict[str, deque[float]] = defaultdict(lambda: deque(maxlen=SMOOTHED_STEPS))
        self._steps = 0
        self.line = ""

    def add(self, values: Mapping[str, Tensor]) -> dict[str, float]:
        """Read the values out, which waits for the device."""
        read = {name: value.item() for name, value in values.items()}
        for name, value in read.items():
            self._windows[name].append(value)
        if self._steps % SMOOTHED_STEPS == 0:
            medians = {n: torch.tensor(list(w)).median().item() for n, w in self._windows.items()}
            self.line = "  ".join(f"{name}: {value:.4f}" for name, value in medians.items())
        self._steps += 1
        return read
