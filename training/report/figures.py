"""The charts of the page: which curves are drawn together, under which title."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from training.report.chart import COLOURS, Series, line_chart
from training.report.curve import Curve, Point
from training.report.metrics import Metrics
from training.report.names import MAP_HEADLINE, Role, having, map_name

if TYPE_CHECKING:
    from markupsafe import Markup

OTHER_CHARTS = 24


@dataclass(frozen=True)
class Figure:
    """A chart with its title and legend."""

    title: str
    svg: Markup
    legend: tuple[str, ...]
    """One name a curve; empty where the title says it."""
    wide: bool = False


def training_figures(metrics: Metrics) -> list[Figure]:
    """Return losses, learning rate, throughput and data wait."""
    parts = having(Role.LOSS, metrics.train)
    wait = {name: _percent(metrics.train[name]) for name in metrics.train}
    drawn = [
        _figure("Loss", metrics.train, having(Role.TOTAL_LOSS, metrics.train)[:1], wide=True),
        _figure("Parts of the loss", metrics.train, parts[:COLOURS], wide=True),
        _figure("Throughput, img/s", metrics.train, having(Role.THROUGHPUT, metrics.train)[:1]),
        _figure("Waiting for data, %", wait, having(Role.DATA_WAIT, metrics.train)[:1]),
        _figure("Learning rate", metrics.train, having(Role.LEARNING_RATE, metrics.train)[:1]),
    ]
    return [figure for figure in drawn if figure is not None]


def evaluation_figure(metrics: Metrics) -> Figure | None:
    """Return mean average precision over steps, of masks and boxes."""
    names = {
        map_name(task, of): f"{what}, {of}"
        for of in (MAP_HEADLINE, "IoU=0.5")
        for task, what in (("segm", "masks"), ("bbox", "boxes"))
    }
    curves = {text: metrics.evaluation.get(name, Curve()) for name, text in names.items()}
    return _figure("mAP over steps", curves, list(curves))


def other_figures(metrics: Metrics) -> list[Figure]:
    """Return one small chart for each metric that has no place elsewhere."""
    names = having(Role.OTHER, metrics.train)[:OTHER_CHARTS]
    drawn = (_figure(name, metrics.train, [name]) for name in names)
    return [figure for figure in drawn if figure is not None]


def _figure(
    title: str,
    curves: Mapping[str, Curve | Sequence[Point]],
    names: Sequence[str],
    *,
    wide: bool = False,
) -> Figure | None:
    series = [Series(name, tuple(curves[name])) for name in names if len(curves[name])]
    if not series:
        return None
    legend = tuple(one.name for one in series) if len(series) > 1 else ()
    return Figure(title, line_chart(title, series), legend, wide)


def _percent(curve: Curve) -> list[Point]:
    """Return a share's points in percent."""
    return [Point(p.x, p.mean * 100, p.low * 100, p.high * 100, p.samples) for p in curve]
