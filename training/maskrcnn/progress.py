"""What happened since the last line of metrics: mean losses, speed, and what is left."""

from __future__ import annotations

import resource
import time
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta

import torch

from training.maskrcnn.model.losses import LOSSES, NAMES
from training.maskrcnn.step import Totals

TOTAL = "total_loss"
DATA_BOUND_SHARE = 0.2
"""A larger share of the time spent waiting for data is worth a warning."""

SHORT_NAMES = dict(zip(("object", "proposal", "class", "box", "mask"), LOSSES, strict=True))


class Window:
    """Adds up steps until it is read."""

    def __init__(self) -> None:
        self._reset()

    def _reset(self) -> None:
        self._sums: dict[str, float] = defaultdict(float)
        self._counts: dict[str, float] = defaultdict(float)
        self._steps = 0
        self._begin = time.perf_counter()
        self._data_wait_s = 0.0

    def add(self, totals: Totals, *, data_wait_s: float) -> None:
        for name in NAMES:
            self._sums[name] += totals.sums[name]
            self._counts[name] += totals.counts[name]
        self._steps += 1
        self._data_wait_s += data_wait_s

    @contextmanager
    def paused(self) -> Iterator[None]:
        """Leave out time that is not training: evaluation, checkpoints."""
        begin = time.perf_counter()
        yield
        self._begin += time.perf_counter() - begin

    def read(self, *, global_batch_size: int, learning_rate: float) -> dict[str, float]:
        """Return the metrics of the steps since the last read.

        A metric that nothing counts for, such as the accuracy on foreground without any, is left
        out; a loss is 0 then.
        """
        seconds = max(time.perf_counter() - self._begin, 1e-9)
        values = {
            name: self._sums[name] / max(self._counts[name], 1)
            for name in NAMES
            if self._counts[name] > 0 or name in LOSSES
        }
        values[TOTAL] = sum(values[name] for name in LOSSES)
        values["learning_rate"] = learning_rate
        values["images_per_second"] = self._steps * global_batch_size / seconds
        values["data_wait_share"] = self._data_wait_s / seconds
        values["memory_mib"] = memory_mib()
        self._reset()
        return values


def memory_mib() -> float:
    """Return the largest memory that this rank has used: of its GPU, or of the process."""
    if torch.cuda.is_available():
        return torch.cuda.max_memory_allocated() / 2**20
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**10


def describe(
    values: dict[str, float], *, step: int, total_steps: int, epoch: float, images_left: int
) -> str:
    """Return the line that people watch."""
    speed = values["images_per_second"]
    left = timedelta(seconds=round(images_left / speed)) if speed else "?"
    losses = " ".join(f"{name} {values[loss]:.3f}" for name, loss in SHORT_NAMES.items())
    line = (
        f"step {step}/{total_steps} epoch {epoch:.2f} loss {values[TOTAL]:.4f} ({losses}) "
        f"lr {values['learning_rate']:.2e} {speed:.1f} img/s "
        f"data wait {values['data_wait_share']:.0%} memory {values['memory_mib']:.0f} MiB "
        f"left {left}"
    )
    if values["data_wait_share"] > DATA_BOUND_SHARE:
        line += " - loading data is the bottleneck: raise num_workers"
    return line
