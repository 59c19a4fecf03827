"""Whether batch, epochs and warm-up of a training go together."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import ClassVar

from training.preflight.check import Check
from training.preflight.finding import Finding, Severity


@dataclass(frozen=True, kw_only=True)
class ScheduleMakesSense(Check):
    """An epoch has a step or more, and the training goes on after its warm-up."""

    codes: ClassVar[Mapping[str, Severity]] = {
        "epoch-shorter-than-step": "warning",
        "training-ends-in-warmup": "warning",
    }
    actions: ClassVar[tuple[str, ...]] = ()

    global_batch_size: int
    """Pictures in one step of all processes."""
    warmup_steps: int
    total_steps: int | None
    """None where the data's length decides."""
    images_per_epoch: int | None
    """None where the data's length decides."""

    def find(self) -> Iterator[Finding]:
        images, batch = self.images_per_epoch, self.global_batch_size
        if images is not None and images < batch:
            yield self.found(
                "epoch-shorter-than-step",
                "hyperparameters.images_per_epoch",
                f"hyperparameters.images_per_epoch is {images}, and one step of all processes "
                f"takes {batch} pictures: every step ends an epoch or more. Raise it, or take "
                "fewer instances or a smaller batch_size_per_gpu",
            )
        if self.total_steps is not None and self.total_steps <= self.warmup_steps:
            yield self.found(
                "training-ends-in-warmup",
                "hyperparameters",
                f"the training has {self.total_steps} steps, and the learning rate still rises for "
                f"{self.warmup_steps}: it never reaches its value. Train longer, or shorten the "
                "warm-up",
            )
