"""What two or more jobs have in common, and in what they differ: no HTML here."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from training.layout import LogChannel
from training.report import sections
from training.report.chart import COLOURS
from training.report.evaluation import BadEvaluation, Evaluation, read_evaluation
from training.report.names import MAP_RANGES, Role, having, map_name
from training.report.record import Record, read_record
from training.report.words import duration, number

MOST_RUNS = COLOURS
"""Each run has a colour of its own."""

_NOT_SETTINGS = ("job_name", "command", "started", "log_dir")
"""Of job.json: they differ between any two runs."""

Text = str | None


@dataclass(frozen=True)
class Run:
    """One job of a comparison."""

    name: str
    """Different from all others'."""
    record: Record
    evaluation: Evaluation | None
    """By class; None where the run left none that can be used."""

    @property
    def is_complete(self) -> bool:
        return self.record.outcome is not None and self.record.outcome.status == "completed"

    @property
    def instance_hours(self) -> float | None:
        """Hours of all its machines together, from the first line of metrics to the last one."""
        hosts, wall_s = self._request.get("hosts"), self.record.metrics.wall_s
        if not isinstance(hosts, list) or wall_s is None:
            return None
        return len(hosts) * wall_s / 3600

    @property
    def instance_type(self) -> str | None:
        named = self._request.get("instance_type")
        return named if isinstance(named, str) else None

    @property
    def platform(self) -> str | None:
        platform = self.record.job.get("platform")
        return platform if isinstance(platform, str) else None

    @property
    def _request(self) -> Mapping[str, Any]:
        request = self.record.job.get("request")
        return request if isinstance(request, dict) else {}


@dataclass(frozen=True)
class Measure:
    """A result of each run; None where a run has none."""

    name: str
    values: tuple[float | None, ...]
    texts: tuple[Text, ...]
    best: int | None
    """Which run is the best in it; None where less or more is not better, or only one has it."""


Choice = Callable[[Iterable[float]], float]
"""`min` or `max`."""

Price = Callable[[Run], float | None]
"""Returns what a run cost in USD, None where that is not known."""


def read_runs(folders: Sequence[Path]) -> list[Run]:
    """Return the runs of log channels, named by their job or, where that is not enough, folder."""
    records = [read_record(LogChannel(folder)) for folder in folders]
    both = zip(records, folders, strict=True)
    names = [str(record.job.get("job_name") or folder.name) for record, folder in both]
    if len(set(names)) < len(names):
        common = Path(os.path.commonpath([folder.resolve() for folder in folders]))
        names = [str(folder.resolve().relative_to(common)) for folder in folders]
    evaluations = [_evaluation(folder) for folder in folders]
    return [Run(*one) for one in zip(names, records, evaluations, strict=True)]


def _evaluation(folder: Path) -> Evaluation | None:
    try:
        return read_evaluation(LogChannel(folder))
    except BadEvaluation:
        return None


def differing_settings(runs: Sequence[Run]) -> dict[str, tuple[Text, ...]]:
    """Return dotted keys whose values differ, and each run's value as text; None: it has no such.

    Hyperparameters first, then what job.json says of job, machine and versions.
    """
    tables = [dict(_settings(run.record)) for run in runs]
    keys = dict.fromkeys(key for table in tables for key in table)
    rows = {key: tuple(table.get(key) for table in tables) for key in keys}
    return {key: values for key, values in rows.items() if len(set(values)) > 1}


def _settings(record: Record) -> Iterator[tuple[str, str]]:
    yield from sections.flatten(record.hyperparameters, "hyperparameters.")
    job = {key: value for key, value in record.job.items() if key not in _NOT_SETTINGS}
    for key, value in sections.flatten(job):
        # The launcher's record has them a second time, as they were typed.
        if not key.startswith(("spec.hyperparameters", "request.hyperparameters")):
            yield key, value


def measures(runs: Sequence[Run], price: Price) -> list[Measure]:
    """Return what came out, those results that a run has."""
    # A run that was cut short was quick, and cheap, for nothing.
    whole = [run.is_complete for run in runs]
    rows = [
        *(_map(runs, task, of) for task in ("segm", "bbox") for of in MAP_RANGES[:2]),
        _last(runs, "Loss, last", Role.TOTAL_LOSS),
        _mean(runs, "Throughput, img/s", Role.THROUGHPUT, max),
        _mean(runs, "Waiting for data, share", Role.DATA_WAIT, min),
        _measure("Steps", [run.record.metrics.last_step for run in runs], _whole),
        _measure("Time", [run.record.metrics.wall_s for run in runs], duration, min, whole),
        _measure("Instance hours", [run.instance_hours for run in runs], number, min, whole),
        _measure("Price, USD", [price(run) for run in runs], _dollars, min, whole),
    ]
    return [row for row in rows if any(value is not None for value in row.values)]


def _map(runs: Sequence[Run], task: str, of: str) -> Measure:
    name = map_name(task, of)
    found = [run.record.metrics.last_evaluation.get(name) for run in runs]
    values = [value if value is not None and value >= 0 else None for value in found]
    return _measure(name, values, lambda value: f"{value:.3f}", max)


def _last(runs: Sequence[Run], name: str, role: Role) -> Measure:
    # Losses of other settings are no measure of which run is better.
    return _measure(name, [_of_role(run, role, last=True) for run in runs], number)


def _mean(runs: Sequence[Run], name: str, role: Role, better: Choice) -> Measure:
    return _measure(name, [_of_role(run, role) for run in runs], number, better)


def _of_role(run: Run, role: Role, *, last: bool = False) -> float | None:
    train = run.record.metrics.train
    name = next((each for each in having(role, train) if len(train[each])), None)
    if name is None:
        return None
    return train[name].points[-1].mean if last else train[name].mean


def _measure(
    name: str,
    values: Sequence[float | None],
    text: Callable[[float], str],
    better: Choice | None = None,
    compared: Sequence[bool] = (),
) -> Measure:
    """Make a row.

    Args:
        better: Chooses the best value, if one can be better than another.
        compared: Which runs may be the best; none said: all.
    """
    texts = tuple(None if value is None else text(value) for value in values)
    taking_part = {
        index: value
        for index, value in enumerate(values)
        if value is not None and (not compared or compared[index])
    }
    best = None
    if better is not None and len(set(taking_part.values())) > 1:
        wanted = better(taking_part.values())
        best = next(index for index, value in taking_part.items() if value == wanted)
    return Measure(name, tuple(values), texts, best)


def _whole(value: float) -> str:
    return f"{value:,.0f}"


def _dollars(value: float) -> str:
    return f"{value:,.2f}"
