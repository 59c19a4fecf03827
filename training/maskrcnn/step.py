"""One training step, the same on N ranks as on one rank with their pictures together.

A step takes one batch of each rank or, with `accumulation_steps`, several; its gradient is the
mean of theirs. The losses of a batch are divided by what it holds on all ranks, so that two ranks
with two batches each take the step of one rank with two batches of twice the size. One batch of
four times the size differs a little: its masks count alike, where the mean lets each batch count
alike, however many masks it has. The other losses divide by samples, of which a picture has a
fixed number where it has enough proposals.

The host does not wait for a GPU: what all ranks together did in a step is read while the next one
runs. So whether a loss is finite is known to the device first. It holds the weights back by
`found_inf`, which fused optimizers take, from the first bad step until the host stops the run.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn
from torch.amp import GradScaler
from torch.optim import Optimizer

from training.maskrcnn.average import build_average, swapped_in
from training.maskrcnn.data.batch import Batch
from training.maskrcnn.engines.engine import Engine
from training.maskrcnn.hyperparameters import Hyperparameters
from training.maskrcnn.loss_counts import LossCounts
from training.maskrcnn.model.losses import Ratios, loss_names
from training.maskrcnn.older_torch import clip_grads_with_norm_, get_total_norm, step_unless
from training.maskrcnn.optimizer import begin_momentum
from training.maskrcnn.readback import Readback
from training.maskrcnn.step_numbers import StepNumbers, Totals

AUTOCAST_TYPES = {"fp32": torch.float32, "bf16": torch.bfloat16, "fp16": torch.float16}


@dataclass(frozen=True)
class _Taken:
    """A step that the device may still be at."""

    batches: Sequence[Batch]
    numbers: Readback
    """Of each batch the numbers of this rank and those of all, then the norm of the gradient."""


class Stepper:
    """Takes training steps with one model and optimizer."""

    def __init__(
        self,
        engine: Engine,
        model: nn.Module,
        optimizer: Optimizer,
        hyperparameters: Hyperparameters,
        *,
        broken_batch: Path | None = None,
        reads_late: bool | None = None,
    ) -> None:
        """Args:
        broken_batch: Where a batch with a loss that is not finite is left.
        reads_late: Read what a step did in the next one; None does so on GPUs.
        """
        self._engine = engine
        self._model, self._optimizer = engine.wrap(
            model,
            optimizer,
            passes=hyperparameters.accumulation_steps,
            compression=hyperparameters.gradient_compression,
        )
        begin_momentum(self._optimizer)
        self._hyperparameters = hyperparameters
        self._numbers = StepNumbers(engine, model, hyperparameters, broken_batch)
        self._parameters = [p for p in model.parameters() if p.requires_grad]
        self._precision = AUTOCAST_TYPES[hyperparameters.precision]
        self._losses = loss_names(hyperparameters.mode_mask)
        self._scaler = GradScaler(engine.device.type, enabled=hyperparameters.precision == "fp16")
        self._average = build_average(model, hyperparameters.ema_decay)
        self._has_failed = torch.zeros((), dtype=torch.bool, device=engine.device)
        self._taken: deque[_Taken] = deque()
        self._reads_late = engine.device.type != "cpu" if reads_late is None else reads_late

    def take(
        self, batches: Sequence[Batch], *, learning_rate: float, is_stop_requested: bool
    ) -> list[Totals]:
        """Take one step; with a problem on any rank, none of them changes its weights.

        Returns:
            What was done in the steps that are known by now: this one, or on a GPU the one before.

        Raises:
            JobFailed: A loss or the gradient is not finite. The message names the pictures.
        """
        self._optimizer.zero_grad()
        *first, last = batches
        numbers: list[Tensor] = []
        for batch in first:
            with self._engine.local_gradients(self._model):
                numbers += self._add_gradients(batch, is_stop_requested)
        numbers += self._add_gradients(last, is_stop_requested)
        with self._engine.summed_gradients(self._optimizer):
            norm = self._update(learning_rate, numbers)
        self._taken.append(_Taken(batches, Readback(torch.cat([*numbers, norm[None].double()]))))
        return self._read(all_but=1 if self._reads_late else 0)

    def finish(self) -> list[Totals]:
        """Wait for the steps whose totals `take` has not returned yet, and return them.

        Raises:
            JobFailed: As in `take`.
        """
        return self._read(all_but=0)

    def averaged(self) -> AbstractContextManager[None]:
        """Inside, the model has the weights to evaluate and to keep: their average with
        `ema_decay`, else its own."""
        return swapped_in(self._average)

    def state_dict(self) -> dict[str, Any]:
        """Return what the next step depends on, besides the weights."""
        return {
            "optimizer": self._optimizer.state_dict(),
            "scaler": self._scaler.state_dict(),
            "average": self._average.state_dict(),
        }

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        options = [
            {name: value for name, value in group.items() if name != "params"}
            for group in self._optimizer.param_groups
        ]
        self._optimizer.load_state_dict(state["optimizer"])
        # It takes the options of the state as well; those of now hold, as the learning rate does.
        for group, own in zip(self._optimizer.param_groups, options, strict=True):
            group.update(own)
        self._scaler.load_state_dict(state["scaler"])
        self._average.load_state_dict(state.get("average", {}))

    # On the device

    def _add_gradients(self, batch: Batch, is_stop_requested: bool) -> list[Tensor]:
        """Add one batch's part of the gradient; return its numbers on this rank and on all."""
        batch = batch.to(self._engine.device)
        counts = LossCounts(self._engine, self._losses)
        with autocast(self._engine.device, self._precision):
            ratios: Ratios = self._model(batch.pixels, batch.sizes, batch.targets, counts.tell)
        own = self._numbers.pack(ratios, batch, is_stop_requested)
        # Nobody needs it before the gradient is there.
        of_all = self._engine.begin_sum(own, "numbers of a step")
        loss = total_loss(ratios, counts.of_all(), self._losses)
        share = loss / self._hyperparameters.accumulation_steps
        torch.autograd.backward(self._scaler.scale(share))
        return [own, of_all()]

    def _update(self, learning_rate: float, numbers: Sequence[Tensor]) -> Tensor:
        """Change the weights unless something is not finite; return the norm of the gradient."""
        self._scaler.unscale_(self._optimizer)
        norm = get_total_norm([p.grad for p in self._parameters if p.grad is not None])
        is_overflow = ~norm.isfinite()
        self._has_failed |= ~self._numbers.are_losses_finite(numbers[1::2])
        if not self._scaler.is_enabled():
            self._has_failed |= is_overflow
        if self._hyperparameters.gradient_clip is not None:
            clip_grads_with_norm_(self._parameters, self._hyperparameters.gradient_clip, norm)
        for group in self._optimizer.param_groups:
            group["lr"] = learning_rate
        # Not the scaler's own: that one would ask the device whether to step.
        step_unless(self._has_failed | is_overflow, self._optimizer)
        self._scaler.update()
        self._average.update()
        return norm

    # On the host

    def _read(self, *, all_but: int) -> list[Totals]:
        totals = []
        while len(self._taken) > all_but:
            taken = self._taken.popleft()
            *numbers, norm = taken.numbers.read()
            totals.append(self._numbers.judge(taken.batches, numbers, norm))
        return totals


def total_loss(ratios: Ratios, counts: Mapping[str, Tensor], losses: Sequence[str]) -> Tensor:
    """Return this rank's part of the loss; the parts of all ranks add up to the loss.

    Args:
        counts: Of all ranks, float32 scalars.
        losses: Their names.
    """
    return torch.stack([ratios[name].sum / counts[name].clamp(min=1) for name in losses]).sum()


def autocast(device: torch.device, precision: torch.dtype) -> torch.autocast:
    """Return the context in which the network computes."""
    is_mixed = precision is not torch.float32
    return torch.autocast(device.type, precision if is_mixed else None, enabled=is_mixed)
