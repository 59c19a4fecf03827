"""The page that shows runs beside each other, and the same as JSON."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from training.report import sections
from training.report.chart import Series, line_chart
from training.report.class_differences import MOST_CLASSES, class_differences
from training.report.comparison import Price, Run, differing_settings, measures
from training.report.curve import Curve
from training.report.figures import Figure
from training.report.names import MAP_HEADLINE, Role, having, map_name
from training.report.template import fill


def to_json(runs: Sequence[Run], price: Price) -> dict[str, Any]:
    """Return names, how each ended, results and differing settings; lists go by run.

    `classes` has the average precision (IoU=0.5:0.95) of each class that differs.
    """
    classes = class_differences(runs)
    return {
        "runs": [run.name for run in runs],
        "status": [
            run.record.outcome.status if run.record.outcome is not None else None for run in runs
        ],
        "results": {each.name: list(each.values) for each in measures(runs, price)},
        "best": {
            each.name: runs[each.best].name
            for each in measures(runs, price)
            if each.best is not None
        },
        "classes": {
            row.name: list(row.values) for row in (classes.rows if classes is not None else ())
        },
        "settings": {key: list(values) for key, values in differing_settings(runs).items()},
    }


def render(runs: Sequence[Run], price: Price, *, notes: Sequence[str] = ()) -> str:
    """Return the page as HTML.

    Args:
        notes: What a reader must know besides, such as where prices are from.
    """
    return fill(
        "comparison.html.j2",
        names=[run.name for run in runs],
        statuses=[sections.status(run.record) for run in runs],
        notes=[*notes, *_notes(runs)],
        measures=measures(runs, price),
        classes=class_differences(runs),
        most_classes=MOST_CLASSES,
        settings=differing_settings(runs),
        figures=_figures(runs),
    )


def _notes(runs: Sequence[Run]) -> list[str]:
    return [f"{run.name}: {note}" for run in runs for note in sections.notes(run.record)]


def _figures(runs: Sequence[Run]) -> list[Figure]:
    drawn = [
        _figure("Loss", runs, Role.TOTAL_LOSS),
        _evaluation_figure("Mask mAP, " + MAP_HEADLINE, runs, "segm"),
        _evaluation_figure("Box mAP, " + MAP_HEADLINE, runs, "bbox"),
        _figure("Throughput, img/s", runs, Role.THROUGHPUT),
        _figure("Learning rate", runs, Role.LEARNING_RATE),
        _figure("Waiting for data, share", runs, Role.DATA_WAIT),
    ]
    return [figure for figure in drawn if figure is not None]


def _figure(title: str, runs: Sequence[Run], role: Role) -> Figure | None:
    def curve(run: Run) -> Curve:
        train = run.record.metrics.train
        return next((train[name] for name in having(role, train) if len(train[name])), Curve())

    return _drawn(title, runs, [curve(run) for run in runs])


def _evaluation_figure(title: str, runs: Sequence[Run], task: str) -> Figure | None:
    name = map_name(task, MAP_HEADLINE)
    curves = [run.record.metrics.evaluation.get(name, Curve()) for run in runs]
    return _drawn(title, runs, curves)


def _drawn(title: str, runs: Sequence[Run], curves: Sequence[Curve]) -> Figure | None:
    """Draw one curve a run, always in the run's colour."""
    if not any(len(curve) for curve in curves):
        return None
    series = [Series(run.name, tuple(curve)) for run, curve in zip(runs, curves, strict=True)]
    return Figure(title, line_chart(title, series), tuple(run.name for run in runs), wide=True)
