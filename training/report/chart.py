"""Line charts as inline SVG: no script, colours from the page's style sheet.

The style sheet gives `.s0` … `.s7` their colours in light and dark, so that a chart follows the
reader's choice. Hovering over a chart shows the values there, as the browser's own tooltip.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import median
from typing import TYPE_CHECKING

from training.report.curve import Point
from training.report.words import number, short

if TYPE_CHECKING:
    from markupsafe import Markup

WIDTH, HEIGHT = 400, 220
LEFT, RIGHT, TOP, BOTTOM = 58, 10, 10, 28
"""Room around the curves, pixels of a chart."""
COLOURS = 8
_HOVER_COLUMNS = 60
_HALF_LETTER = 5
"""Pixels, the most that half of a tick's letter takes."""

# A loss that starts at forty times its usual value would leave a flat line on a linear axis.
_LOG_FROM_RATIO = 30
_LOG_RANGE = 1e8
"""A logarithmic axis spans no more; what is smaller lies on its edge."""
_SMALLEST = 1e-30
"""Differences below it are none."""


@dataclass(frozen=True)
class Series:
    """One line of a chart."""

    name: str
    points: Sequence[Point]


@dataclass(frozen=True)
class Axis:
    """Maps values of `low` to `high` to pixels of `start` to `end`."""

    low: float
    high: float
    start: float
    end: float
    ticks: tuple[float, ...]
    log: bool = False

    def place(self, value: float) -> float:
        low, high, at = self.low, self.high, value
        if self.log:
            low, high, at = math.log10(low), math.log10(high), math.log10(max(value, self.low))
        return self.start + (at - low) / (high - low) * (self.end - self.start)


def line_chart(label: str, series: Sequence[Series], *, from_zero: bool = True) -> Markup:
    """Draw curves over training steps.

    Args:
        label: What the chart shows, for readers who cannot see it.
        series: One to eight curves, one at least with a point; one without keeps its colour.
        from_zero: Whether the vertical axis begins at 0, where no value is below.
    """
    drawn = [one for one in series if one.points]
    x = _x_axis(drawn)
    y = _y_axis(drawn, from_zero)
    return framed(
        f"{label}. {_summary(drawn)}",
        grid(x, y),
        *(curve(index, one, x, y) for index, one in enumerate(series) if one.points),
        hover(drawn, x, lambda point: f"step {round(point.x):,}"),
    )


def framed(label: str, *parts: Markup) -> Markup:
    """Return a chart of its parts.

    Args:
        label: What it shows, and that in words.
    """
    from markupsafe import Markup

    opening = Markup(
        '<svg class="chart" viewBox="0 0 {} {}" role="img" aria-label="{}" '
        'xmlns="http://www.w3.org/2000/svg">'
    ).format(WIDTH, HEIGHT, label)
    return Markup("").join([opening, *parts, Markup("</svg>")])


def _x_axis(series: Sequence[Series]) -> Axis:
    low = min(one.points[0].x for one in series)
    high = max(one.points[-1].x for one in series)
    if low < high / 4:
        low = 0
    if low == high:
        low, high = low - 1, high + 1
    ticks = tuple(
        tick for tick in _nice_ticks(low, high, 6) if low <= tick <= high and tick == round(tick)
    )
    return Axis(low, high, LEFT, WIDTH - RIGHT, ticks)


def _y_axis(series: Sequence[Series], from_zero: bool) -> Axis:
    points = [point for one in series for point in one.points]
    low, high = min(point.low for point in points), max(point.high for point in points)
    place = (HEIGHT - BOTTOM, TOP)
    if low > 0 and high > _LOG_FROM_RATIO * median(point.mean for point in points):
        low = max(low, high / _LOG_RANGE)
        decades = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
        ticks = tuple(10.0**decade for decade in decades)
        return Axis(ticks[0], ticks[-1], *place, ticks=ticks, log=True)
    if from_zero and low >= 0:
        low = 0.0
    if high - low <= max(_SMALLEST, abs(high) * 1e-9):
        half = abs(high) / 2 if abs(high) > _SMALLEST else 0.5
        low, high = low - half, high + half
    ticks = _nice_ticks(low, high, 4)
    return Axis(min(low, ticks[0]), max(high, ticks[-1]), *place, ticks=ticks)


def _nice_ticks(low: float, high: float, about: int) -> tuple[float, ...]:
    """Return round numbers from low to high: steps of 1, 2 or 5 times a power of ten."""
    raw = (high - low) / about
    power = 10.0 ** math.floor(math.log10(raw))
    step = next(nice * power for nice in (1, 2, 5, 10) if nice * power >= raw * 0.999)
    first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
    return tuple(round(index * step, 12) for index in range(first, last + 1))


def grid(x: Axis, y: Axis) -> Markup:
    """Draw lines at the vertical axis's ticks, and the names of all."""
    from markupsafe import Markup

    line = Markup('<line class="{}" x1="{:.1f}" y1="{:.1f}" x2="{:.1f}" y2="{:.1f}"/>')
    text = Markup('<text class="tick {}" x="{:.1f}" y="{:.1f}">{}</text>')
    parts: list[Markup] = []
    for tick in y.ticks:
        at = y.place(tick)
        parts.append(line.format("grid", LEFT, at, WIDTH - RIGHT, at))
        parts.append(text.format("tick-end", LEFT - 6, at + 4, short(tick)))
    for tick in x.ticks:
        at = x.place(tick)
        label = short(tick)
        # A long label in the middle below the last tick would be cut by the edge.
        is_cut = at + len(label) * _HALF_LETTER > WIDTH
        anchor, at = ("tick-end", WIDTH) if is_cut else ("tick-middle", at)
        parts.append(text.format(anchor, at, HEIGHT - 8, label))
    return Markup("").join(parts)


def curve(index: int, series: Series, x: Axis, y: Axis) -> Markup:
    """Draw the line of means over the band of all samples; a single point as a dot."""
    from markupsafe import Markup

    colour = index % COLOURS
    places = [(x.place(point.x), point) for point in series.points]
    if len(places) == 1:
        at, point = places[0]
        dot = Markup('<circle class="dot s{}" cx="{:.1f}" cy="{:.1f}" r="3.5"/>')
        return dot.format(colour, at, y.place(point.mean))
    mean = " ".join(f"{at:.1f},{y.place(point.mean):.1f}" for at, point in places)
    line = Markup('<polyline class="line s{}" points="{}"/>').format(colour, mean)
    if all(point.samples == 1 for point in series.points):
        return line
    upper = [f"{at:.1f},{y.place(point.high):.1f}" for at, point in places]
    lower = [f"{at:.1f},{y.place(point.low):.1f}" for at, point in reversed(places)]
    band = Markup('<polygon class="band s{}" points="{}"/>')
    return band.format(colour, " ".join(upper + lower)) + line


def hover(series: Sequence[Series], x: Axis, place: Callable[[Point], str]) -> Markup:
    """Lay invisible columns over the chart; the tooltip of each has the values at its middle.

    Args:
        place: Tells in words where a point is.
    """
    from markupsafe import Markup

    columns = min(_HOVER_COLUMNS, max(len(one.points) for one in series))
    width = (x.end - x.start) / columns
    column = Markup(
        '<g class="at"><rect x="{:.1f}" y="{}" width="{:.1f}" height="{}"/>'
        '<line x1="{:.1f}" y1="{}" x2="{:.1f}" y2="{}"/><title>{}</title></g>'
    )
    bottom = HEIGHT - BOTTOM
    parts: list[Markup] = []
    for index in range(columns):
        left = x.start + index * width
        middle = left + width / 2
        at = x.low + (index + 0.5) / columns * (x.high - x.low)
        nearest = [
            (one.name, min(one.points, key=lambda point: abs(point.x - at))) for one in series
        ]
        lines = [place(nearest[0][1])]
        lines += [f"{name}: {number(point.mean)}" for name, point in nearest]
        parts.append(
            column.format(
                left, TOP, width, bottom - TOP, middle, TOP, middle, bottom, "\n".join(lines)
            )
        )
    return Markup("").join(parts)


def _summary(series: Sequence[Series]) -> str:
    """Tell each curve's way in words."""
    return "; ".join(
        f"{one.name} from {number(one.points[0].mean)} at step {round(one.points[0].x):,} "
        f"to {number(one.points[-1].mean)} at step {round(one.points[-1].x):,}"
        for one in series
    )
