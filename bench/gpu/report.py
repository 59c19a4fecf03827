"""The figures as JSON and as text."""

from __future__ import annotations

import json
import os
import platform
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import torch
import torchvision

from bench.gpu.correctness import Correctness
from bench.gpu.plan import REFERENCE, Bench, Row
from bench.gpu.profiled import Profile

IMAGES_PER_SECOND_AT_LEAST = 120
RATIO_AT_LEAST = 2.5
"""The goals on one H100: the best batch size of ours, against the best of the reference."""


@dataclass(frozen=True)
class Report:
    """Text for people, and the verdicts."""

    text: str
    is_right: bool
    reached_goals: bool


def write_report(bench: Bench, path: Path) -> Report:
    """Write everything to a JSON file."""
    goals = _goals(bench)
    is_right = bench.correctness is not None and bench.correctness.passed
    document = {
        "machine": _machine(bench),
        "elapsed_s": round(bench.elapsed_s, 1),
        "correctness": _correctness(bench.correctness),
        "speed": [{**asdict(row.speed), **_named(row)} for row in bench.rows],
        "profiles": {label: asdict(profile) for label, profile in bench.profiles.items()},
        "goals": goals,
        "left_out": bench.left_out,
    }
    path.write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")
    return Report(_to_text(bench, document), is_right, goals["passed"])


def _machine(bench: Bench) -> dict[str, Any]:
    is_gpu = bench.device.type == "cuda"
    return {
        "device": torch.cuda.get_device_name(bench.device) if is_gpu else "cpu",
        "cores": len(os.sched_getaffinity(0)),
        "python": platform.python_version(),
        "torch": torch.__version__,
        "torchvision": torchvision.__version__,
        "size": bench.sizes.size,
    }


def _correctness(found: Correctness | None) -> dict[str, Any] | None:
    return None if found is None else {**asdict(found), "passed": found.passed}


def _named(row: Row) -> dict[str, Any]:
    return {"label": row.label, "batch_size": row.batch_size}


def _goals(bench: Bench) -> dict[str, Any]:
    ours, reference = (bench.best(is_reference=which) for which in (False, True))
    speed = ours.speed.images_per_second if ours else None
    base = reference.speed.images_per_second if reference else None
    ratio = round(speed / base, 2) if speed and base else None
    return {
        "images_per_second": speed,
        "images_per_second_at_least": IMAGES_PER_SECOND_AT_LEAST,
        "ratio": ratio,
        "ratio_at_least": RATIO_AT_LEAST,
        "passed": (speed or 0) >= IMAGES_PER_SECOND_AT_LEAST and (ratio or 0) >= RATIO_AT_LEAST,
    }


def _to_text(bench: Bench, document: dict[str, Any]) -> str:
    machine, goals = document["machine"], document["goals"]
    height, width = machine["size"]
    lines = [
        f"{machine['device']}, torch {machine['torch']}, torchvision {machine['torchvision']}, "
        f"pictures of {height} x {width}, {document['elapsed_s']:.0f} s in all"
    ]
    if bench.correctness:
        found = bench.correctness
        lines.append(
            f"a step against the CPU's: losses within {found.loss:.1e}, gradients within "
            f"{found.gradient_p90:.1e} (largest {found.gradient_largest:.1e}), bf16 loss within "
            f"{found.bf16_loss:.1e}{'' if found.passed else '  WRONG'}"
        )
    base = {r.batch_size: r.speed.images_per_second for r in bench.rows if r.label == REFERENCE}
    lines += [_row_text(row, base.get(row.batch_size)) for row in bench.rows]
    for label, profile in bench.profiles.items():
        lines += _profile_text(label, profile)
    lines += [f"left out: {text}" for text in bench.left_out]
    verdict = "reached" if goals["passed"] else "not reached"
    lines.append(
        f"goals of an H100 {verdict}: {goals['images_per_second']} img/s (at least "
        f"{IMAGES_PER_SECOND_AT_LEAST}), {goals['ratio']} times the reference (at least "
        f"{RATIO_AT_LEAST})"
    )
    return "\n".join(lines)


def _row_text(row: Row, base: float | None) -> str:
    speed = row.speed
    head = f"  batch {row.batch_size:>2}  {row.label:<16}"
    if speed.images_per_second is None:
        return f"{head} {speed.failure}"
    ratio = f"  {speed.images_per_second / base:.2f} times" if base else ""
    return (
        f"{head} {speed.images_per_second:8.2f} img/s  {speed.step_ms:8.1f} ms a step  "
        f"{speed.memory_mib} MiB{ratio}"
    )


def _profile_text(label: str, profile: Profile) -> list[str]:
    idle = "" if profile.idle_share is None else f", {profile.idle_share:.0%} idle"
    waits = ", ".join(f"{name} {count:g}" for name, count in profile.waits.items()) or "none"
    return [
        f"profile of {label}: {profile.step_ms:.1f} ms a step{idle}, "
        f"{profile.launches:g} launches; the host waits: {waits}",
        *(
            f"  {kernel['ms']:8.2f} ms {kernel['share']:6.1%} {kernel['calls']:7g} x "
            f"{kernel['name']}"
            for kernel in profile.kernels
        ),
    ]
