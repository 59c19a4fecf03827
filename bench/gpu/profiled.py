"""Where the time of a step goes: kernels, idle time, and what makes the host wait."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import torch
from torch.profiler import ProfilerActivity, profile

from bench.gpu.speed import wait
from bench.gpu.training import Step

SHOWN = 15
NAME_LENGTH = 90
WAITS = ("cudaStreamSynchronize", "cudaDeviceSynchronize", "cudaEventSynchronize")
READS = ("aten::item", "aten::_local_scalar_dense", "aten::nonzero")
LAUNCHES = ("cudaLaunchKernel", "cudaLaunchKernelExC", "cuLaunchKernel", "cuLaunchKernelEx")


@dataclass(frozen=True)
class Profile:
    """Of one step, on average.

    Attributes:
        busy_ms: In which a kernel ran; None on a CPU.
        idle_share: Of the time, in which none ran; None on a CPU.
        waits: How often the host waited for the device, by the call; and what reads values.
        kernels: The longest, on a CPU operators: name, milliseconds, share of all, calls.
    """

    step_ms: float
    busy_ms: float | None
    idle_share: float | None
    launches: float
    waits: dict[str, float]
    kernels: list[dict[str, Any]]


def profile_steps(step: Step, device: torch.device, *, steps: int) -> Profile:
    """Profile so many steps; they must be warm."""
    activities = [ProfilerActivity.CPU]
    if device.type == "cuda":
        activities.append(ProfilerActivity.CUDA)
    wait(device)
    with profile(activities=activities) as recorded:
        for _ in range(steps):
            step()
        wait(device)
    return _summarize(list(recorded.events() or []), device, steps)


def _summarize(events: list[Any], device: torch.device, steps: int) -> Profile:
    on_gpu = device.type == "cuda"
    # Ranges that the host marked are shown on the device too; they are no work.
    own = [
        event
        for event in events
        if event.device_type.name == "CUDA" and not getattr(event, "is_user_annotation", False)
    ]
    work = [(e.name, e.time_range.elapsed_us()) for e in own] or [
        (e.name, e.self_cpu_time_total) for e in events
    ]
    begin = min(event.time_range.start for event in events)
    end = max(event.time_range.end for event in events)
    busy_us = _covered((event.time_range.start, event.time_range.end) for event in own)
    calls = Counter(event.name for event in events)
    return Profile(
        step_ms=_per_step_ms(end - begin, steps),
        busy_ms=_per_step_ms(busy_us, steps) if on_gpu else None,
        idle_share=round(1 - busy_us / (end - begin), 3) if on_gpu else None,
        launches=sum(calls[name] for name in LAUNCHES) / steps,
        waits={name: calls[name] / steps for name in (*WAITS, *READS) if calls[name]},
        kernels=_longest(work, steps),
    )


def _longest(work: Iterable[tuple[str, float]], steps: int) -> list[dict[str, Any]]:
    times: dict[str, float] = defaultdict(float)
    counts: Counter[str] = Counter()
    for name, took_us in work:
        times[name] += took_us
        counts[name] += 1
    total = sum(times.values())
    longest = sorted(times, key=lambda name: -times[name])[:SHOWN]
    return [
        {
            "name": name[:NAME_LENGTH],
            "ms": _per_step_ms(times[name], steps),
            "share": round(times[name] / total, 3),
            "calls": counts[name] / steps,
        }
        for name in longest
    ]


def _covered(ranges: Iterable[tuple[float, float]]) -> float:
    """Return the length of the union of ranges."""
    covered, reached = 0.0, float("-inf")
    for begin, end in sorted(ranges):
        covered += max(0.0, end - max(begin, reached))
        reached = max(reached, end)
    return covered


def _per_step_ms(microseconds: float, steps: int) -> float:
    return round(microseconds / steps / 1000, 2)
