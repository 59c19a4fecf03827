"""The table of classes: how well the model finds each of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from training.report.evaluation import KIND_NAMES, Category, Evaluation, Kind
from training.report.names import MAP_HEADLINE, MAP_RANGES

RANGES = MAP_RANGES[:3]
MOST_ROWS = 500
"""A page with more could not be read, and would be large."""


@dataclass(frozen=True)
class Row:
    """A class; a value is None where it has no object."""

    name: str
    objects: int
    averages: tuple[float | None, ...]
    """In the order of the table's columns."""
    found: float | None
    """Share of its objects that were found, with a score and an overlap that are good enough."""
    correct: float | None
    """Share of the detections with its name that are right; None where there are none."""


@dataclass(frozen=True)
class ClassTable:
    """All classes, or the first ones, the best first."""

    step: int
    groups: tuple[str, ...]
    """Masks and boxes, each above the columns of `ranges`."""
    ranges: tuple[str, ...]
    rows: tuple[Row, ...]
    left_out: int
    min_score: float
    min_iou: float


def class_table(evaluation: Evaluation) -> ClassTable:
    """Return the classes by their average precision, that of masks before that of boxes."""
    kinds = evaluation.kinds
    found, named = _right_and_named(evaluation)
    rows = [
        Row(
            name=category.name,
            objects=category.objects,
            averages=tuple(_average(category, kind, of) for kind in kinds for of in RANGES),
            found=_share(found[category.id], category.objects),
            correct=_share(found[category.id], named[category.id]),
        )
        for category in sorted(evaluation.categories, key=lambda one: _rank(one, kinds))
    ]
    return ClassTable(
        step=evaluation.step,
        groups=tuple(KIND_NAMES[kind].capitalize() for kind in kinds),
        ranges=RANGES,
        rows=tuple(rows[:MOST_ROWS]),
        left_out=max(0, len(rows) - MOST_ROWS),
        min_score=evaluation.matching.min_score,
        min_iou=evaluation.matching.min_iou,
    )


def _average(category: Category, kind: Kind, of: str) -> float | None:
    return category.ap.get(kind, {}).get(of)


def _rank(category: Category, kinds: Sequence[Kind]) -> tuple[float, str]:
    """Put the best first, and at the end what has no object."""
    value = _average(category, kinds[0], MAP_HEADLINE) if kinds else None
    return (1.0 if value is None else -value, category.name)


def _right_and_named(evaluation: Evaluation) -> tuple[Counter[int], Counter[int]]:
    """Return by category how many objects were found, and how many detections have its name."""
    found: Counter[int] = Counter()
    named: Counter[int] = Counter()
    for true, predicted, count in evaluation.confusion:
        if predicted is not None:
            named[predicted] += count
            if true == predicted:
                found[predicted] += count
    return found, named


def _share(part: int, whole: int) -> float | None:
    return min(1.0, part / whole) if whole else None
