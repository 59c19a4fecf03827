"""Reads metrics.jsonl line by line into curves, whatever state the file is in."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from training.report.curve import Curve

_LARGEST = 1e100
"""A value beyond it is as good as infinite: a chart's arithmetic would overflow."""


@dataclass
class NotFinite:
    """Values of one metric that are NaN or infinite; a chart cannot show them."""

    first_step: int
    count: int = 0


@dataclass
class Metrics:
    """What a job's metrics say."""

    train: dict[str, Curve] = field(default_factory=dict)
    evaluation: dict[str, Curve] = field(default_factory=dict)
    last_evaluation: dict[str, float] = field(default_factory=dict)
    """The values of the last evaluation, -1 (no such object) among them."""
    last_evaluation_step: int | None = None
    step_s: Curve = field(default_factory=Curve)
    """Seconds a step took, over the stretches between two lines without an evaluation."""
    last_step: int | None = None
    last_epoch: float | None = None
    first_time_s: float | None = None
    last_time_s: float | None = None
    resumed_at: list[int] = field(default_factory=list)
    """Steps to which the job went back when it started again from a checkpoint."""
    not_finite: dict[str, NotFinite] = field(default_factory=dict)
    unreadable_lines: int = 0

    @property
    def wall_s(self) -> float | None:
        """Seconds from the first line to the last one."""
        if self.first_time_s is None or self.last_time_s is None:
            return None
        return max(0.0, self.last_time_s - self.first_time_s)


def read_metrics(path: Path) -> Metrics:
    """Read a metrics file; one that is not there gives no curves."""
    try:
        with path.open(encoding="utf-8", errors="replace") as lines:
            return parse_metrics(lines)
    except OSError:
        return Metrics()


def parse_metrics(lines: Iterable[str]) -> Metrics:
    """Read metrics lines, leaving out those that are not whole."""
    parser = _Parser()
    for line in lines:
        if line.strip():
            parser.take(line)
    return parser.metrics


@dataclass(frozen=True)
class _Entry:
    """One line, of the form that `training.layout` describes."""

    kind: str
    step: int
    epoch: float | None
    time_s: float | None
    values: dict[str, Any]


class _Parser:
    def __init__(self) -> None:
        self.metrics = Metrics()
        self._previous: tuple[int, float] | None = None
        """Step and time of the last training line, None right after an evaluation."""

    def take(self, line: str) -> None:
        entry = _entry(line)
        if entry is None:
            self.metrics.unreadable_lines += 1
            return
        self._note_progress(entry)
        is_train = entry.kind == "train"
        curves = self.metrics.train if is_train else self.metrics.evaluation
        finite: dict[str, float] = {}
        for name, raw in entry.values.items():
            value = _float(raw)
            if value is None:
                continue
            if not math.isfinite(value):
                self._note_not_finite(name, entry.step)
                continue
            finite[name] = value
            # COCO's -1 says that the data has no such object: no point of a curve.
            if not (name.startswith("mAP") and value < 0):
                curves.setdefault(name, Curve()).add(entry.step, value)
        if not is_train:
            self.metrics.last_evaluation_step = entry.step
            self.metrics.last_evaluation = finite

    def _note_progress(self, entry: _Entry) -> None:
        metrics = self.metrics
        if metrics.last_step is not None and entry.step < metrics.last_step:
            self._rewind(entry.step)
        metrics.last_step = entry.step
        if entry.epoch is not None:
            metrics.last_epoch = entry.epoch
        if entry.time_s is not None:
            if metrics.first_time_s is None:
                metrics.first_time_s = entry.time_s
            metrics.last_time_s = entry.time_s
        self._note_step_time(entry)

    def _note_step_time(self, entry: _Entry) -> None:
        if entry.kind != "train" or entry.time_s is None:
            self._previous = None
            return
        if self._previous is not None:
            steps, seconds = entry.step - self._previous[0], entry.time_s - self._previous[1]
            if steps > 0 and seconds >= 0:
                self.metrics.step_s.add(entry.step, seconds / steps)
        self._previous = (entry.step, entry.time_s)

    def _note_not_finite(self, name: str, step: int) -> None:
        seen = self.metrics.not_finite.setdefault(name, NotFinite(first_step=step))
        seen.count += 1

    def _rewind(self, step: int) -> None:
        self.metrics.resumed_at.append(step)
        self._previous = None
        for curve in (
            *self.metrics.train.values(),
            *self.metrics.evaluation.values(),
            self.metrics.step_s,
        ):
            curve.rewind(step)


def _entry(line: str) -> _Entry | None:
    try:
        entry = json.loads(line)
    except (ValueError, RecursionError):
        return None
    if (
        isinstance(entry, dict)
        and entry.get("kind") in ("train", "evaluation")
        and isinstance(entry.get("step"), int)
        and isinstance(entry.get("values"), dict)
    ):
        return _Entry(
            kind=entry["kind"],
            step=entry["step"],
            epoch=_finite(entry.get("epoch")),
            time_s=_finite(entry.get("time_s")),
            values=entry["values"],
        )
    return None


def _float(value: Any) -> float | None:
    """Return a number as a float, None where it is none."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    if abs(value) > _LARGEST:
        return math.inf if value > 0 else -math.inf
    return float(value)


def _finite(value: Any) -> float | None:
    number = _float(value)
    return number if number is not None and math.isfinite(number) else None
