"""Precision over recall, of all classes together and of each one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

from training.report.chart import (
    BOTTOM,
    COLOURS,
    HEIGHT,
    LEFT,
    RIGHT,
    TOP,
    WIDTH,
    Axis,
    Series,
    curve,
    framed,
    grid,
    hover,
)
from training.report.curve import Point
from training.report.evaluation import KIND_NAMES, RECALLS, Evaluation, Kind
from training.report.figures import Figure
from training.report.words import count

if TYPE_CHECKING:
    from markupsafe import Markup

SMALL_CHARTS = 100
"""One a class."""
_TENTHS = range(0, RECALLS, 10)
_TICKS = (0.0, 0.25, 0.5, 0.75, 1.0)
_X = Axis(0, 1, LEFT, WIDTH - RIGHT, _TICKS)
_Y = Axis(0, 1, HEIGHT - BOTTOM, TOP, _TICKS)
_TOLD = (0, 25, 50, 75, 100)
"""Recalls, in hundredths, at which a chart says in words what it shows."""


@dataclass(frozen=True)
class ValueTable:
    """The values of the large charts, at tenths of recall."""

    columns: tuple[str, ...]
    rows: tuple[tuple[str, tuple[str, ...]], ...]


@dataclass(frozen=True)
class Curves:
    """All that the page shows of precision and recall."""

    figures: tuple[Figure, ...]
    values: ValueTable
    classes: tuple[Figure, ...]
    left_out: int
    """Classes without a chart of their own."""


def precision_recall(evaluation: Evaluation) -> Curves | None:
    """Return the curves of the last evaluation; None where there was no object."""
    means = _means(evaluation)
    if not means:
        return None
    frequent = _most_frequent(evaluation)
    figures = [_figure("Mean of all classes", means)]
    if len(evaluation.categories) > 1 and frequent:
        title = "Each class" if _shows_all(evaluation, frequent) else "Most frequent classes"
        kind, of = _first_curve(evaluation)
        figures.append(_figure(f"{title}: {KIND_NAMES[kind]}, {of}", frequent))
    classes = _of_classes(evaluation)
    return Curves(
        figures=tuple(figures),
        values=_values([*means, *frequent]),
        classes=tuple(classes[:SMALL_CHARTS]),
        left_out=max(0, len(classes) - SMALL_CHARTS),
    )


def _means(evaluation: Evaluation) -> list[Series]:
    """Return the mean over the classes that have objects, of each kind and IoU."""
    found = []
    for kind in evaluation.kinds:
        for of, curves in evaluation.curves[kind].items():
            known = [values for values in curves if values is not None]
            if known:
                mean = [sum(column) / len(known) for column in zip(*known, strict=True)]
                found.append(_series(f"{KIND_NAMES[kind]}, {of}", mean))
    return found[:COLOURS]


def _first_curve(evaluation: Evaluation) -> tuple[Kind, str]:
    kind = evaluation.kinds[0]
    return kind, next(iter(evaluation.curves[kind]))


def _most_frequent(evaluation: Evaluation) -> list[Series]:
    """Return the curves of the classes with most objects, in the order of their numbers."""
    kind, of = _first_curve(evaluation)
    pairs = zip(evaluation.categories, evaluation.curves[kind][of], strict=True)
    known = [(one, values) for one, values in pairs if values is not None]
    known.sort(key=lambda pair: -pair[0].objects)
    return [_series(one.name, values) for one, values in known[:COLOURS]]


def _shows_all(evaluation: Evaluation, shown: Sequence[Series]) -> bool:
    return len(shown) == sum(one.objects > 0 for one in evaluation.categories)


def _of_classes(evaluation: Evaluation) -> list[Figure]:
    """Return a small chart for each class with objects: both IoU of masks, without them boxes."""
    kind, _ = _first_curve(evaluation)
    figures = []
    for place, category in enumerate(evaluation.categories):
        series = [
            _series(of, values)
            for of, curves in evaluation.curves[kind].items()
            if (values := curves[place]) is not None
        ]
        if series:
            title = f"{category.name} ({count(category.objects, 'object')})"
            figures.append(Figure(title, _chart(title, series, is_small=True), _names(series)))
    return figures


def _figure(title: str, series: Sequence[Series]) -> Figure:
    return Figure(title, _chart(title, series), _names(series), wide=True)


def _names(series: Sequence[Series]) -> tuple[str, ...]:
    return tuple(one.name for one in series)


def _series(name: str, values: Sequence[float]) -> Series:
    points = (Point(at / (RECALLS - 1), value, value, value) for at, value in enumerate(values))
    return Series(name, tuple(points))


def _chart(title: str, series: Sequence[Series], *, is_small: bool = False) -> Markup:
    drawn = [Series(one.name, _corners(one.points)) for one in series]
    return framed(
        f"Precision over recall. {title}. {_summary(series)}",
        grid(_X, _Y),
        *(curve(index, one, _X, _Y) for index, one in enumerate(drawn)),
        *(() if is_small else (hover(series, _X, _told),)),
    )


def _told(point: Point) -> str:
    return f"recall {point.x:.2f}"


def _corners(points: Sequence[Point]) -> tuple[Point, ...]:
    """Leave out what lies on a level line: a curve has far fewer steps than points."""
    inner = [
        here
        for (before, here), (_, after) in pairwise(pairwise(points))
        if not before.mean == here.mean == after.mean
    ]
    return (points[0], *inner, points[-1])


def _summary(series: Sequence[Series]) -> str:
    """Tell each curve's way in words."""
    return "; ".join(
        f"{one.name}: "
        + ", ".join(f"{one.points[at].mean:.2f} at recall {at / 100:g}" for at in _TOLD)
        for one in series
    )


def _values(series: Sequence[Series]) -> ValueTable:
    return ValueTable(
        columns=_names(series),
        rows=tuple(
            (f"{at / 100:.1f}", tuple(f"{one.points[at].mean:.3f}" for one in series))
            for at in _TENTHS
        ),
    )
