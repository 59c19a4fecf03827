"""The course of the learning rate as one algorithm would run it, for plans."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True)
class RateChange:
    """From which step on which rate holds."""

    step: int | None
    """Steps of the whole job: each is one global batch. None where it follows from the epoch and
    the length of the data, which a plan does not know."""
    epoch: float | None
    """The same in epochs; None where the length of the data decides."""
    rate: float


@dataclass(frozen=True, kw_only=True)
class LearningRates:
    """Worked out for the number of GPUs, as the implementation itself defines it."""

    definition: str
    """In a sentence: how the implementation scales rate and steps."""
    global_batch_size: int
    """Pictures in one step of all processes."""
    warmup_steps: int
    total_steps: int | None
    """None where the data's length decides."""
    changes: tuple[RateChange, ...]
    """The first is the rate after warm-up, at step 0."""

    def to_json(self) -> dict[str, Any]:
        return {**asdict(self), "changes": [asdict(change) for change in self.changes]}
