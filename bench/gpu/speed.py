"""Pictures a second and memory of one training."""

from __future__ import annotations

import gc
import resource
import time
from collections.abc import Callable
from dataclasses import dataclass

import torch

from bench.gpu.training import Step


@dataclass(frozen=True)
class Speed:
    """What steps took.

    Attributes:
        memory_mib: The most that the GPU, or on a CPU the process, held at once.
        failure: Why there are no figures, out of memory for example.
    """

    images_per_second: float | None = None
    step_ms: float | None = None
    memory_mib: int | None = None
    warmup_s: float | None = None
    failure: str | None = None


def measure(
    build: Callable[[], Step],
    *,
    batch_size: int,
    device: torch.device,
    warmup_steps: int,
    least_steps: int,
    seconds: float,
) -> Speed:
    """Take steps for so many seconds, and at least so many of them."""
    release(device)
    if device.type == "cuda":
        torch.cuda.reset_peak_memory_stats(device)
    begin = time.perf_counter()
    try:
        step = build()
        for _ in range(warmup_steps):
            step()
        wait(device)
        warm = time.perf_counter()
        steps = 0
        while steps < least_steps or time.perf_counter() - warm < seconds:
            step()
            steps += 1
        wait(device)
    except torch.OutOfMemoryError:
        return Speed(failure="out of memory")
    except Exception as error:  # The other parts are worth having.
        return Speed(failure=describe(error))
    took = time.perf_counter() - warm
    return Speed(
        images_per_second=round(steps * batch_size / took, 2),
        step_ms=round(took / steps * 1000, 1),
        memory_mib=_memory_mib(device),
        warmup_s=round(warm - begin, 1),
    )


def describe(error: Exception) -> str:
    """Return an error in a line."""
    lines = str(error).strip().splitlines() or [""]
    return f"{type(error).__name__}: {lines[0][:200]}"


def wait(device: torch.device) -> None:
    """Wait until the device has done all that it was given."""
    if device.type == "cuda":
        torch.cuda.synchronize(device)


def release(device: torch.device) -> None:
    """Give back the memory of what ran before."""
    gc.collect()
    if device.type == "cuda":
        torch.cuda.empty_cache()


def _memory_mib(device: torch.device) -> int:
    if device.type == "cuda":
        return round(torch.cuda.max_memory_allocated(device) / 2**20)
    return round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**10)
