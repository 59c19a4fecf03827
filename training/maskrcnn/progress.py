"""What happened since the last line of metrics: mean losses, speed, and what is left."""

from __future__ import annotations

import resource
import time
from collections import defaultdict
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import timedelta
from math import inf

import psutil
import torch

from training.maskrcnn.model.losses import LOSSES
from training.maskrcnn.step_numbers import Totals

TOTAL = "total_loss"
LONGEST_S = timedelta(days=36_500).total_seconds()
"""A time that is left is said up to a hundred years."""
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

    def wait_for_data(self, seconds: float) -> None:
        """Count time in which the rank waited for its next pictures."""
        self._data_wait_s += seconds

    def add(self, totals: Totals) -> None:
        for name in totals.sums:
            self._sums[name] += totals.sums[name]
            self._counts[name] += totals.counts[name]
        self._steps += 1

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
            for name in self._sums
            if self._counts[name] > 0 or name in LOSSES
        }
        values[TOTAL] = sum(values[name] for name in LOSSES if name in values)
        values["learning_rate"] = learning_rate
        values["images_per_second"] = self._steps * global_batch_size / seconds
        # Of how many ranks: those of an elastic job come and go.
        values["global_batch_size"] = global_batch_size
        values["data_wait_share"] = self._data_wait_s / seconds
        values["memory_mib"] = memory_mib()
        values["host_mib"] = host_memory_mib()
        self._reset()
        return values


def memory_mib() -> float:
    """Return the largest memory that this rank has used: of its GPU, or of the process."""
    if torch.cuda.is_available():
        return torch.cuda.max_memory_allocated() / 2**20
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**10


def host_memory_mib() -> float:
    """Return the memory of this rank and its loader's workers now; what they share counts once."""
    rank = psutil.Process()
    total = 0
    for process in (rank, *rank.children(recursive=True)):
        try:
            total += process.memory_full_info().pss
        except psutil.Error:  # It has just ended.
            continue
    return total / 2**20


def describe(
    values: dict[str, float], *, step: int, total_steps: int, epoch: float, images_left: int
) -> str:
    """Return the line that people watch."""
    speed = values["images_per_second"]
    seconds_left = images_left / speed if speed else inf
    left = timedelta(seconds=round(seconds_left)) if seconds_left < LONGEST_S else "?"
    losses = " ".join(
        f"{name} {values[loss]:.3f}" for name, loss in SHORT_NAMES.items() if loss in values
    )
    return (
        f"step {step}/{total_steps} epoch {epoch:.2f} loss {values[TOTAL]:.4f} ({losses}) "
        f"lr {values['learning_rate']:.2e} {speed:.1f} img/s "
        f"data wait {values['data_wait_share']:.0%} memory {values['memory_mib']:.0f} MiB "
        f"host {values['host_mib']:.0f} MiB "
        f"left {left}"
    )


def describe_evaluation(
    metrics: Mapping[str, float], *, split: str, step: int, pictures: int, took_s: float
) -> str:
    """Return the line that people watch after an evaluation."""
    scores = ", ".join(
        f"mAP({kind}) {metrics[f'mAP({kind})/IoU=0.5:0.95']:.3f} "
        f"(IoU=0.5 {metrics[f'mAP({kind})/IoU=0.5']:.3f})"
        for kind in ("segm", "bbox")
        if f"mAP({kind})/IoU=0.5" in metrics
    )
    speed = pictures / max(took_s, 1e-9)
    return (
        f"evaluated {split} after step {step}: {scores}; {pictures} pictures in "
        f"{timedelta(seconds=round(took_s))}, {speed:.1f} img/s"
    )
