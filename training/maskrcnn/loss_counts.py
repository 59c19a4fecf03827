"""The counts that divide the losses, added up over all ranks while the heads still compute.

They are known as soon as proposals are sampled, well before the losses. So a rank that gets to its
losses first seldom waits for a slower one there: once a step, at the end of it, is enough.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import torch
from torch import Tensor

from training.maskrcnn.engines.engine import BegunSum, Engine


class LossCounts:
    """Of one batch."""

    def __init__(self, engine: Engine, losses: Sequence[str]) -> None:
        """Args: `losses` are the names of all, the same on each rank."""
        self._engine = engine
        self._losses = losses
        self._sum: BegunSum | None = None

    def tell(self, own: Mapping[str, float]) -> None:
        """Begin to add up; the model calls it once, with the counts of this rank."""
        # Filled in on the device: a copy of a number from the host would wait for it.
        numbers = [
            torch.full((), own[name], dtype=torch.float64, device=self._engine.device)
            for name in self._losses
        ]
        self._sum = self._engine.begin_sum(torch.stack(numbers), "counts of losses")

    def of_all(self) -> dict[str, Tensor]:
        """Return those of all ranks: float32 scalars."""
        assert self._sum, "the model tells its counts before its losses"
        return dict(zip(self._losses, self._sum().float(), strict=True))
