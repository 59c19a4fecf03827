"""Which classes are taken for which: the most frequent mistakes, and a matrix of some classes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from training.report.evaluation import KIND_NAMES, Evaluation
from training.report.words import count

MOST_MISTAKES = 15
MOST_CLASSES = 20
"""A matrix of more cannot be read."""
MISSED, NOTHING = "missed", "nothing there"
OTHERS = "other class"

Key = int | None
Place = Key | str
"""Of a row or column: a category's id, None, or `OTHERS`."""


@dataclass(frozen=True)
class Mistake:
    """Objects of one class that were taken for another one."""

    true: str
    predicted: str
    count: int
    share: float
    """Of the objects of that class."""


@dataclass(frozen=True)
class Cell:
    """How many objects of the row's class were taken for the column's."""

    count: int
    share: float
    """Of the row."""
    is_right: bool


@dataclass(frozen=True)
class Matrix:
    """Rows: what is there. Columns: what the model says."""

    columns: tuple[str, ...]
    rows: tuple[tuple[str, tuple[Cell, ...]], ...]
    left_out: int
    """Classes that have no row of their own."""


@dataclass(frozen=True)
class Confusion:
    """All that the page shows of it."""

    lead: str
    mistakes: tuple[Mistake, ...]
    further: int
    """Kinds of mistakes that are not listed."""
    matrix: Matrix


def confusion(evaluation: Evaluation) -> Confusion | None:
    """Return the mistakes of the last evaluation; None where nothing was there or detected."""
    counts = {
        (true, predicted): amount
        for true, predicted, amount in evaluation.confusion
        if amount and not (true is None and predicted is None)
    }
    if not counts:
        return None
    mistakes = _mistakes(evaluation, counts)
    return Confusion(
        lead=_lead(evaluation),
        mistakes=tuple(mistakes[:MOST_MISTAKES]),
        further=max(0, len(mistakes) - MOST_MISTAKES),
        matrix=_matrix(evaluation, counts),
    )


def _lead(evaluation: Evaluation) -> str:
    matching = evaluation.matching
    return (
        f"Of {count(len(evaluation.pictures.ids), 'picture')} of {evaluation.split}: detections "
        f"with a score of {matching.min_score:g} or more, matched with objects whose "
        f"{KIND_NAMES[matching.kind]} they overlap with an IoU of {matching.min_iou:g} or more; "
        "those of an object's own class come first."
    )


def _mistakes(evaluation: Evaluation, counts: Mapping[tuple[Key, Key], int]) -> list[Mistake]:
    names = {one.id: one.name for one in evaluation.categories}
    objects = {one.id: one.objects for one in evaluation.categories}
    found = [
        Mistake(
            true=_name(true, names),
            predicted=_name(predicted, names),
            count=amount,
            share=min(1.0, amount / max(objects.get(true, 0), amount)),
        )
        for (true, predicted), amount in counts.items()
        if true is not None and predicted is not None and true != predicted
    ]
    return sorted(found, key=lambda one: (-one.count, -one.share, one.true, one.predicted))


def _matrix(evaluation: Evaluation, counts: Mapping[tuple[Key, Key], int]) -> Matrix:
    names = {one.id: one.name for one in evaluation.categories}
    shown = _shown_classes(evaluation, counts)
    hidden = len(names) - len(shown)
    others = [OTHERS] if hidden else []
    columns: list[Place] = [*shown, *others, None]
    rows: list[Place] = [*shown, None]
    sums: Counter[tuple[Place, Place]] = Counter()
    for (true, predicted), amount in counts.items():
        sums[_place(true, shown), _place(predicted, shown)] += amount
    return Matrix(
        columns=tuple(MISSED if one is None else _label(one, names) for one in columns),
        rows=tuple(
            (
                NOTHING if row is None else _label(row, names),
                _cells(row, columns, sums),
            )
            for row in rows
        ),
        left_out=hidden,
    )


def _cells(
    row: Place, columns: Sequence[Place], sums: Mapping[tuple[Place, Place], int]
) -> tuple[Cell, ...]:
    counts = [sums[row, column] for column in columns]
    whole = max(1, sum(counts))
    return tuple(
        Cell(amount, amount / whole, column is not None and column == row)
        for column, amount in zip(columns, counts, strict=True)
    )


def _shown_classes(
    evaluation: Evaluation, counts: Mapping[tuple[Key, Key], int]
) -> tuple[int, ...]:
    """Return the classes that are mistaken for each other most, in the order of their ids."""
    weights = {one.id: (0, one.objects) for one in evaluation.categories}
    for (true, predicted), amount in counts.items():
        if true != predicted and true is not None and predicted is not None:
            for key in (true, predicted):
                mistakes, objects = weights.get(key, (0, 0))
                weights[key] = (mistakes + amount, objects)
    order = [one.id for one in evaluation.categories]
    chosen = sorted(order, key=lambda key: weights[key], reverse=True)[:MOST_CLASSES]
    return tuple(key for key in order if key in chosen)


def _place(key: Key, shown: Sequence[int]) -> Place:
    return key if key is None or key in shown else OTHERS


def _label(place: Place, names: Mapping[int, str]) -> str:
    return place if isinstance(place, str) else _name(place, names)


def _name(key: Key, names: Mapping[int, str]) -> str:
    return names.get(key, f"category {key}") if key is not None else MISSED
