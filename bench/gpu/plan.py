"""What is run, in which order, within the budget."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor

from bench.gpu.correctness import Correctness, check_step
from bench.gpu.profiled import Profile, profile_steps
from bench.gpu.speed import Speed, describe, measure, release
from bench.gpu.training import (
    Shape,
    Step,
    Variant,
    our_training,
    reference_training,
    weights,
)

REFERENCE = "reference"
PLAIN = Variant("bf16", {"precision": "bf16"})
COMPILED = Variant("bf16, compiled", {"precision": "bf16", "compile": True})
COMPILE_S = 70
"""What compiling may take; with less of the budget left it is not begun."""
PART_S = 12
"""What any other part may take."""


@dataclass(frozen=True)
class Sizes:
    """How large everything is."""

    batches: tuple[int, ...]
    size: tuple[int, int]
    checked_size: tuple[int, int]
    seconds: float
    warmup_steps: int
    least_steps: int


FULL = Sizes(
    # The largest first: with too little time it is the small ones that are left out.
    batches=(16, 8, 4, 2),
    size=(800, 1333),
    checked_size=(320, 533),
    seconds=2.5,
    warmup_steps=4,
    least_steps=6,
)
TINY = Sizes(
    batches=(1,), size=(64, 96), checked_size=(64, 96), seconds=0, warmup_steps=1, least_steps=1
)

TINY_MODEL = {
    "resnet_arch": "resnet18",
    "fpn_channels": 32,
    "box_head_channels": 64,
    "mask_head_channels": 32,
    "mask_head_layers": 1,
    "rpn_pre_nms_train": 50,
    "rpn_post_nms_train": 50,
    "roi_batch_per_image": 16,
}


@dataclass(frozen=True)
class Row:
    """One training at one batch size."""

    label: str
    batch_size: int
    speed: Speed


@dataclass
class Bench:
    """Runs the parts, and keeps what they found."""

    is_tiny: bool
    budget_s: float
    wanted: list[int] | None
    rows: list[Row] = field(default_factory=list)
    left_out: list[str] = field(default_factory=list)
    correctness: Correctness | None = None
    profiles: dict[str, Profile] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._begin = time.perf_counter()
        has_gpu = torch.cuda.is_available()
        self.device = torch.device("cuda" if has_gpu else "cpu")
        self.sizes = FULL if has_gpu and not self.is_tiny else TINY
        self._state: dict[str, Tensor] = {}

    @property
    def elapsed_s(self) -> float:
        return time.perf_counter() - self._begin

    def run(self) -> None:
        """Run everything that there is time for."""
        self._state = weights(self._tiny_changes())
        self._check()
        batches = self.wanted or self.sizes.batches
        for batch in batches:
            self._measure(REFERENCE, batch, self._reference)
            self._measure(PLAIN.label, batch, lambda shape: self._ours(PLAIN, shape))
        self._profile(PLAIN, batches[0])
        for batch in batches:
            needed = COMPILE_S if self.device.type == "cuda" else PART_S
            self._measure(
                COMPILED.label, batch, lambda shape: self._ours(COMPILED, shape), needed=needed
            )
        self._profile_reference(batches[0])

    def best(self, *, is_reference: bool) -> Row | None:
        """Return the quickest of ours, or of the reference."""
        rows = [
            row
            for row in self.rows
            if (row.label == REFERENCE) is is_reference and row.speed.images_per_second
        ]
        return max(rows, key=lambda row: row.speed.images_per_second or 0, default=None)

    # Parts

    def _check(self) -> None:
        self._say("a step against the CPU's")
        shape = Shape(self.sizes.checked_size, 2)
        self.correctness = check_step(shape, self._state, self._tiny_changes(), self.device)

    def _measure(
        self, label: str, batch: int, build: Callable[[Shape], Step], *, needed: float = PART_S
    ) -> None:
        if not self._has_time(f"{label}, batch {batch}", needed):
            return
        speed = measure(
            lambda: build(Shape(self.sizes.size, batch)),
            batch_size=batch,
            device=self.device,
            warmup_steps=self.sizes.warmup_steps,
            least_steps=self.sizes.least_steps,
            seconds=self.sizes.seconds,
        )
        self.rows.append(Row(label, batch, speed))
        self._say(f"{label}, batch {batch}: {speed.failure or speed.images_per_second}")

    def _profile(self, variant: Variant, batch: int) -> None:
        self._profile_step(variant.label, batch, lambda shape: self._ours(variant, shape))

    def _profile_reference(self, batch: int) -> None:
        self._profile_step(REFERENCE, batch, self._reference)

    def _profile_step(self, label: str, batch: int, build: Callable[[Shape], Step]) -> None:
        if not self._has_time(f"profile of {label}, batch {batch}", PART_S):
            return
        release(self.device)
        try:
            step = build(Shape(self.sizes.size, batch))
            for _ in range(self.sizes.warmup_steps):
                step()
            profile = profile_steps(step, self.device, steps=min(3, self.sizes.least_steps))
        except Exception as error:  # The other parts are worth having.
            self.left_out.append(f"profile of {label}, batch {batch}: {describe(error)}")
            return
        self.profiles[f"{label}, batch {batch}"] = profile
        self._say(f"profile of {label}, batch {batch}")

    # What they run

    def _ours(self, variant: Variant, shape: Shape) -> Step:
        changes = {**self._tiny_changes(), **variant.changes}
        # A machine without a GPU may lack the C++ compiler that it takes there.
        changes["compile"] = bool(changes.get("compile")) and not self.is_on_cpu
        own = Variant(variant.label, changes)
        return our_training(own, shape, self._state, self.device)

    def _reference(self, shape: Shape) -> Step:
        return reference_training(shape, self._state, self.device, self._tiny_changes())

    @property
    def is_on_cpu(self) -> bool:
        return self.device.type == "cpu"

    def _tiny_changes(self) -> dict[str, Any]:
        return {} if self.sizes is FULL else TINY_MODEL

    def _has_time(self, part: str, needed: float) -> bool:
        if self.budget_s - self.elapsed_s >= needed:
            return True
        self.left_out.append(f"{part}: no time left")
        return False

    def _say(self, text: str) -> None:
        sys.stderr.write(f"{self.elapsed_s:6.1f} s  {text}\n")
