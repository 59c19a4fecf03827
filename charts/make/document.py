"""The tables of values in docs/eks.md, between `<!-- values: NAME -->` and `<!-- end -->`."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence

from . import helpers, jupyter, training
from .key import Group, Key

_MARKED = re.compile(r"(<!-- values: (?P<name>[a-z-]+) -->\n).*?(<!-- end -->)", re.DOTALL)


def fill_in(text: str) -> str:
    """Return a page with its tables as they are now.

    Raises:
        KeyError: It asks for a table that there is not.
    """
    return _MARKED.sub(
        lambda found: found[1] + "\n".join(TABLES[found["name"]]()) + "\n" + found[3], text
    )


def _training() -> Iterator[str]:
    """What training charts take: one table, since most is the same in all three."""
    charts = {chart.name: _keys(training.groups(chart)) for chart in training.CHARTS}
    names = dict.fromkeys(name for keys in charts.values() for name in keys)
    yield from _head("value", *charts, "old charts", "meaning")
    for name in names:
        having = {chart: keys[name] for chart, keys in charts.items() if name in keys}
        key = next(iter(having.values()))
        defaults = [_shown(having[chart]) if chart in having else "-" for chart in charts]
        yield _row(f"`{name}`", *defaults, key.old, _meaning(having))


def _meaning(having: Mapping[str, Key]) -> str:
    """Return what a key is for: once, or for each chart that says it otherwise."""
    abouts: dict[str, list[str]] = {}
    for chart, key in having.items():
        abouts.setdefault(key.about, []).append(chart)
    if len(abouts) == 1:
        return next(iter(abouts))
    return "<br>".join(f"{', '.join(charts)}: {about}" for about, charts in abouts.items())


def _gone() -> Iterator[str]:
    yield from _head("old value", "now")
    for name, instead in training.GONE.items():
        yield _row(f"`maskrcnn.{name}`", instead)


def _others(groups: Sequence[Group]) -> Callable[[], Iterator[str]]:
    def table() -> Iterator[str]:
        yield from _head("value", "default", "meaning")
        for name, key in _keys(groups).items():
            yield _row(f"`{name}`", _shown(key), key.about)

    return table


TABLES: dict[str, Callable[[], Iterator[str]]] = {
    "training": _training,
    "gone": _gone,
    "stage-data": _others(helpers.STAGE_DATA),
    "attach": _others(helpers.ATTACH),
    "jupyter": _others(jupyter.VALUES),
}


def _keys(groups: Sequence[Group]) -> dict[str, Key]:
    return {
        f"{group.name}.{key.name}" if group.name else key.name: key
        for group in groups
        for key in group.keys
    }


def _shown(key: Key) -> str:
    return f"`{json.dumps(key.default)}`" if key.written else ""


def _head(*columns: str) -> Iterator[str]:
    yield _row(*columns)
    yield _row(*("---" for _ in columns))


def _row(*cells: str) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"
