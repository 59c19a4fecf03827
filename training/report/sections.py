"""The parts of the page, each from what is known of the job; no HTML here."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from training.report.metrics import Metrics
from training.report.names import MAP_HEADLINE, MAP_RANGES, Role, having, map_name
from training.report.record import Record
from training.report.words import count, duration, number

NO_OBJECT = -1
"""What COCO's evaluation gives where the truth has no such object."""
_VALUE_CHARACTERS = 600

Rows = list[tuple[str, str]]


@dataclass(frozen=True)
class Status:
    """How the job ended: `tone` colours the label."""

    tone: str
    label: str
    sentence: str


@dataclass(frozen=True)
class Tile:
    """A figure to see first."""

    label: str
    value: str
    note: str


def status(record: Record) -> Status:
    """Say in plain words how the job ended."""
    metrics, outcome = record.metrics, record.outcome
    step = outcome.step if outcome and outcome.step is not None else metrics.last_step
    reached = "before the first step was logged" if step is None else f"at step {step:,}"
    if outcome is None:
        return Status(
            "unknown",
            "No outcome",
            f"The trainer did not say how it ended, so it was killed or still runs. Its record "
            f"ends {reached}.",
        )
    match outcome.status:
        case "completed":
            done = "" if step is None else f" {count(step, 'step')}"
            return Status("good", "Completed", f"The job ran to its end{done and ':' + done}.")
        case "checkpointed":
            sentence = f"The job was asked to stop and saved a checkpoint {reached}."
            return Status("waiting", "Checkpointed", f"{sentence} Run it again to go on.")
        case "failed":
            why = f": {outcome.message}" if outcome.message else "."
            return Status("bad", "Failed", f"The job failed {reached}{why}")
        case other:
            return Status("unknown", other[:40], outcome.message or f"Its record ends {reached}.")


def subtitle(record: Record) -> list[str]:
    """Return what ran, where and when, in a few words each."""
    job = record.job
    words = [str(job[key]) for key in ("algorithm", "platform") if isinstance(job.get(key), str)]
    world_size = job.get("world_size")
    if isinstance(world_size, int):
        words.append("1 process" if world_size == 1 else f"{world_size:,} processes")
    if record.metrics.first_time_s is not None:
        words.append(_moment(record.metrics.first_time_s))
    return words


def tiles(metrics: Metrics) -> list[Tile]:
    """Return the figures to see first, those that are known."""
    return [tile for tile in _tiles(metrics) if tile is not None]


def _tiles(metrics: Metrics) -> Iterator[Tile | None]:
    yield _map_tile("Mask mAP", "segm", metrics)
    yield _map_tile("Box mAP", "bbox", metrics)
    loss = _first(Role.TOTAL_LOSS, metrics)
    if loss is not None:
        points = metrics.train[loss].points
        yield Tile("Loss", number(points[-1].mean), f"from {number(points[0].mean)}")
    throughput = _first(Role.THROUGHPUT, metrics)
    if throughput is not None:
        yield Tile(
            "Throughput",
            f"{number(metrics.train[throughput].mean)} img/s",
            "mean of what was logged",
        )
    if metrics.wall_s:
        steps = "" if metrics.last_step is None else count(metrics.last_step, "step")
        yield Tile("Time", duration(metrics.wall_s), f"first to last line, {steps}".strip(", "))


def _map_tile(label: str, task: str, metrics: Metrics) -> Tile | None:
    value = metrics.last_evaluation.get(map_name(task, MAP_HEADLINE), NO_OBJECT)
    return None if value < 0 else Tile(label, f"{value:.3f}", MAP_HEADLINE)


def map_table(metrics: Metrics) -> list[tuple[str, list[str | None]]]:
    """Return range and the values of masks and boxes; None where there is no such object."""
    values = metrics.last_evaluation
    rows = [
        (of, [values.get(map_name(task, of), NO_OBJECT) for task in ("segm", "bbox")])
        for of in MAP_RANGES
    ]
    if not any(name.startswith("mAP") for name in values):
        return []
    return [(of, [f"{v:.3f}" if v >= 0 else None for v in row]) for of, row in rows]


def timing(record: Record) -> Rows:
    """Return times and speeds, those that are known."""
    metrics, rows = record.metrics, Rows()
    if metrics.first_time_s is not None and metrics.last_time_s is not None:
        rows.append(("First step logged", _moment(metrics.first_time_s)))
        rows.append(("Last step logged", _moment(metrics.last_time_s)))
    if metrics.wall_s:
        rows.append(("Time between them, pauses included", duration(metrics.wall_s)))
    if metrics.last_step is not None:
        epochs = "" if metrics.last_epoch is None else f" ({number(metrics.last_epoch)} epochs)"
        rows.append(("Steps", f"{metrics.last_step:,}{epochs}"))
    if len(metrics.step_s):
        rows.append(("Per step, on average", duration(metrics.step_s.mean)))
    throughput = _first(Role.THROUGHPUT, metrics)
    if throughput is not None:
        curve = metrics.train[throughput]
        rows.append(("Throughput, mean of what was logged", f"{number(curve.mean)} img/s"))
        rows.append(("Throughput, best", f"{number(max(p.high for p in curve))} img/s"))
    wait = _first(Role.DATA_WAIT, metrics)
    if wait is not None:
        rows.append(("Waiting for data, on average", f"{metrics.train[wait].mean:.1%}"))
    memory = _first(Role.MEMORY, metrics)
    if memory is not None:
        most = max(point.high for point in metrics.train[memory])
        rows.append(("Memory of rank 0, at most", f"{number(most)} MiB"))
    for name in having(Role.EVALUATION_TIME, metrics.evaluation):
        if len(metrics.evaluation[name]):
            rows.append(("Per evaluation, on average", duration(metrics.evaluation[name].mean)))
    return rows


def notes(record: Record) -> list[str]:
    """Return what a reader must know about the record itself."""
    metrics, lines = record.metrics, list(record.problems)
    if metrics.unreadable_lines:
        lines.append(
            f"{count(metrics.unreadable_lines, 'line')} of metrics.jsonl "
            f"{'is' if metrics.unreadable_lines == 1 else 'are'} not whole and left out."
        )
    lines += [
        f"{name} was not finite {count(seen.count, 'time')}, first at step {seen.first_step:,}."
        for name, seen in metrics.not_finite.items()
    ]
    lines += [
        f"The job was resumed: step {step:,} was done again." for step in metrics.resumed_at[:5]
    ]
    if len(metrics.resumed_at) > 5:
        lines.append(f"It was resumed {len(metrics.resumed_at)} times in all.")
    return lines


def command(record: Record) -> str | None:
    """Return the command line that runs the job again."""
    value = record.job.get("command")
    if isinstance(value, list):
        return shlex.join(str(part) for part in value)
    return value if isinstance(value, str) else None


def setup(record: Record) -> list[tuple[str, Rows]]:
    """Return what ran as titled tables, the empty ones left out."""
    job = record.job
    known = ("versions", "machine", "spec", "request", "command")
    tables = [
        ("Job", flatten({key: job[key] for key in job if key not in known})),
        ("Machine", flatten(_mapping(job.get("machine")))),
        ("Versions", flatten(_mapping(job.get("versions")))),
        ("Hyperparameters", flatten(record.hyperparameters)),
        ("Job spec", flatten(_mapping(job.get("spec")))),
        ("Request", flatten(_mapping(job.get("request")))),
    ]
    return [(title, rows) for title, rows in tables if rows]


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


def flatten(value: Mapping[str, Any], prefix: str = "") -> Rows:
    """Return dotted keys and their values as text."""
    rows = Rows()
    for key, item in value.items():
        if isinstance(item, dict) and item:
            rows += flatten(item, f"{prefix}{key}.")
        else:
            rows.append((f"{prefix}{key}", _text(item)))
    return rows


def _text(value: Any) -> str:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return text if len(text) <= _VALUE_CHARACTERS else text[:_VALUE_CHARACTERS] + " …"


def _first(role: Role, metrics: Metrics) -> str | None:
    """Return the first training metric of a role that has a point."""
    return next((n for n in having(role, metrics.train) if len(metrics.train[n])), None)


def _moment(time_s: float) -> str:
    try:
        return datetime.fromtimestamp(time_s, UTC).strftime("%Y-%m-%d %H:%M:%S UTC")
    except (ValueError, OverflowError, OSError):
        return f"{time_s:g} s since 1970"
