"""What the ranks tell each other in a step, and what it says about the step."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import isfinite
from pathlib import Path
from typing import NoReturn

import torch
from torch import Tensor, nn

from training.errors import JobFailed
from training.maskrcnn.broken_batch import save_broken_batch
from training.maskrcnn.data.batch import Batch
from training.maskrcnn.engines.engine import Engine
from training.maskrcnn.hyperparameters import Hyperparameters
from training.maskrcnn.model.losses import Ratios, loss_names, ratio_names
from training.maskrcnn.together import raise_together

ADVICE = (
    "Lower base_learning_rate or set gradient_clip; if it is always the same picture, look at its "
    "annotations"
)


@dataclass(frozen=True)
class Totals:
    """What all ranks did in one step, the same on each of them."""

    sums: Mapping[str, float]
    counts: Mapping[str, float]
    is_stop_requested: bool
    broken_pictures: int
    """Pictures that could not be used, and were replaced."""
    own_broken: tuple[str, ...] = ()
    """Of them those of this rank, and why."""


class StepNumbers:
    """Packs the numbers of a batch for one small message, and judges them on the host.

    A row of numbers is float64: the request to stop, broken pictures, the sums of all losses and
    metrics, and their counts.
    """

    def __init__(
        self,
        engine: Engine,
        model: nn.Module,
        hyperparameters: Hyperparameters,
        broken_batch: Path | None,
    ) -> None:
        """Args:
        model: The model itself, not what the engine wraps around it.
        broken_batch: Where a batch with a loss that is not finite is left.
        """
        self._engine = engine
        self._model = model
        self._hyperparameters = hyperparameters
        self._broken_batch = broken_batch
        self._names = ratio_names(hyperparameters.mode_mask)
        self._losses = loss_names(hyperparameters.mode_mask)
        self._skips_overflows = hyperparameters.precision == "fp16"

    # On the device

    def pack(self, ratios: Ratios, batch: Batch, is_stop_requested: bool) -> Tensor:
        """Return the row of a batch."""
        numbers = [
            float(is_stop_requested),
            float(len(batch.broken)),
            *(ratios[name].sum for name in self._names),
            *(ratios[name].count for name in self._names),
        ]
        double, device = torch.float64, self._engine.device
        return torch.stack(
            [
                # Filled in on the device: a copy of a number from the host would wait for it.
                number.detach().to(double)
                if isinstance(number, Tensor)
                else torch.full((), number, dtype=double, device=device)
                for number in numbers
            ]
        )

    def are_losses_finite(self, rows: Sequence[Tensor]) -> Tensor:
        """Return one bool for all rows."""
        return torch.stack(list(rows))[:, 2 : 2 + len(self._losses)].isfinite().all()

    # On the host

    def judge(self, batches: Sequence[Batch], numbers: Sequence[float], norm: float) -> Totals:
        """Return what a step did.

        Args:
            numbers: Of each batch the row of this rank and that of all, one after the other.
            norm: Of the gradient.

        Raises:
            JobFailed: A loss or the gradient was not finite; raised on all ranks.
        """
        width = 2 + 2 * len(self._names)
        rows = [numbers[begin : begin + width] for begin in range(0, len(numbers), width)]
        own, of_all = rows[::2], rows[1::2]
        totals = self._sum_up(batches, of_all)
        for batch, own_row, row in zip(batches, own, of_all, strict=True):
            if self._bad_losses(row):
                self._fail_by_losses(batch, own_row, self._sum_up([batch], [row]))
        if not self._skips_overflows and not isfinite(norm):
            self._fail_by_gradient(batches, norm, totals)
        return totals

    def _sum_up(self, batches: Sequence[Batch], rows: Sequence[Sequence[float]]) -> Totals:
        stop, broken, *values = (sum(column) for column in zip(*rows, strict=True))
        return Totals(
            dict(zip(self._names, values[: len(self._names)], strict=True)),
            dict(zip(self._names, values[len(self._names) :], strict=True)),
            stop > 0,
            round(broken),
            tuple(message for batch in batches for message in batch.broken),
        )

    def _bad_losses(self, row: Sequence[float]) -> list[str]:
        """Return the losses that are not finite; they are the first of the sums."""
        return [
            name for place, name in enumerate(self._losses, start=2) if not isfinite(row[place])
        ]

    def _fail_by_losses(self, batch: Batch, own: Sequence[float], totals: Totals) -> NoReturn:
        problem = None
        if bad := self._bad_losses(own):
            problem = self._keep(
                [batch],
                totals,
                f"rank {self._engine.rank}: {', '.join(bad)} is not finite for images "
                f"{', '.join(batch.names)}; weights are those of the step before. {ADVICE}",
            )
        raise_together(self._engine, problem)
        raise JobFailed("a loss is not finite, added up over all ranks")

    def _fail_by_gradient(self, batches: Sequence[Batch], norm: float, totals: Totals) -> NoReturn:
        # The sums are the same on all ranks: all raise, without asking each other.
        names = ", ".join(name for batch in batches for name in batch.names)
        problem = (
            f"the gradient is not finite (norm {norm}); this rank's images are {names}. {ADVICE}"
        )
        raise JobFailed(self._keep(batches, totals, problem))

    def _keep(self, batches: Sequence[Batch], totals: Totals, problem: str) -> str:
        """Leave the batches for a replay, and return the problem with where they are."""
        if self._broken_batch is None:
            return problem
        where = save_broken_batch(
            self._broken_batch,
            batches,
            model=self._model,
            hyperparameters=self._hyperparameters,
            counts=totals.counts,
            problem=problem,
        )
        return f"{problem}. {where}"
