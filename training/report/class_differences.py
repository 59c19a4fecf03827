"""In which classes runs differ most."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from training.report.comparison import Run
from training.report.evaluation import KIND_NAMES, Evaluation, Kind
from training.report.names import MAP_HEADLINE

MOST_CLASSES = 20
"""Rows of the page."""


@dataclass(frozen=True)
class ClassDifference:
    """A class whose average precision is not the same in all runs that know it."""

    name: str
    values: tuple[float | None, ...]
    """Of each run; None where the run did not evaluate it."""

    @property
    def best(self) -> float:
        return max(self._known)

    @property
    def spread(self) -> float:
        """Between the best run and the worst."""
        return max(self._known) - min(self._known)

    @property
    def _known(self) -> list[float]:
        return [value for value in self.values if value is not None]


@dataclass(frozen=True)
class ClassDifferences:
    """The largest first."""

    kind: str
    """Masks, or boxes where not all runs have those."""
    rows: tuple[ClassDifference, ...]


def class_differences(runs: Sequence[Run]) -> ClassDifferences | None:
    """Return the classes, by their names, that two runs or more have evaluated differently.

    Data sets may differ: a class's number need not be the same in all of them.

    Returns:
        None where fewer than two runs left an evaluation by class.
    """
    known = [run.evaluation for run in runs if run.evaluation is not None]
    kind = next((each for each in KIND_NAMES if all(each in one.kinds for one in known)), None)
    if len(known) < 2 or kind is None:
        return None
    tables = [_averages(run.evaluation, kind) for run in runs]
    names = dict.fromkeys(name for table in tables for name in table)
    rows = [ClassDifference(name, tuple(table.get(name) for table in tables)) for name in names]
    several = [row for row in rows if sum(value is not None for value in row.values) > 1]
    differing = [row for row in several if row.spread > 0]
    return ClassDifferences(KIND_NAMES[kind], tuple(sorted(differing, key=lambda row: -row.spread)))


def _averages(evaluation: Evaluation | None, kind: Kind) -> dict[str, float]:
    if evaluation is None:
        return {}
    averages = ((one.name, one.ap.get(kind, {}).get(MAP_HEADLINE)) for one in evaluation.categories)
    return {name: value for name, value in averages if value is not None}
