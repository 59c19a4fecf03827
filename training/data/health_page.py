"""A set's health as one HTML file that needs nothing else."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from training.data.census import SIZES
from training.data.exhibit_drawing import Drawing, NotDrawable, draw_exhibit
from training.data.exhibits import Exhibit
from training.data.health import Health, SplitHealth
from training.data.health_text import words_of_categories, words_of_pictures
from training.data.picture_file import quiet_about_large_ones
from training.data.rules import Rule
from training.data.tally import Fault
from training.preflight.finding import Severity
from training.visible import visible

BUDGET_BYTES = 3_500_000
"""For all data URIs together, so that the page stays under 5 MB."""
PLACES_SHOWN = 20
CLASSES_SHOWN = 200
TEXT_SHOWN = 300
"""Characters of a file's name or of one place."""

_TEMPLATES = (
    Path(__file__).parent / "templates",
    Path(__file__).parents[1] / "report" / "templates",
)
_TONES = {"error": "bad", "warning": "waiting", "info": "unknown"}
_ORDER = {"error": 0, "warning": 1, "info": 2}


@dataclass(frozen=True)
class FaultView:
    """One kind of fault, as the page lists it."""

    code: str
    severity: Severity
    tone: str
    title: str
    count: int
    """0 for what is not counted."""
    remedy: str
    places: tuple[str, ...]
    more: int


@dataclass(frozen=True)
class ExhibitView:
    """A picture of the page."""

    name: str
    faults: tuple[str, ...]
    drawing: Drawing | None
    """None where it cannot be decoded."""


@dataclass(frozen=True)
class SplitView:
    """One split, as the page shows it."""

    name: str
    tiles: tuple[tuple[str, str], ...]
    pictures: str
    categories: str
    classes: tuple[tuple[str, ...], ...]
    more_classes: int
    findings: tuple[FaultView, ...]
    exhibits: tuple[ExhibitView, ...]


def render(source: Path, health: Health) -> str:
    """Return the page as HTML."""
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    environment = Environment(
        loader=FileSystemLoader(_TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=lambda value: visible(value) if type(value) is str else value,
    )
    with quiet_about_large_ones():
        exhibits = _draw_all(health)
    warnings = sum(finding.severity == "warning" for finding in health.findings)
    return environment.get_template("health.html.j2").render(
        name=source.resolve().name or str(source),
        errors=health.errors,
        warnings=warnings,
        of_set=[finding.message for finding in health.of_set],
        splits=[
            _view_split(split, views) for split, views in zip(health.splits, exhibits, strict=True)
        ],
    )


def _draw_all(health: Health) -> list[tuple[ExhibitView, ...]]:
    """Draw pictures of all splits until the page is full: each split has its share."""
    views = []
    share = BUDGET_BYTES // max(1, len(health.splits))
    for split in health.splits:
        drawn: list[ExhibitView] = []
        spent = 0
        for exhibit in split.exhibits:
            view = _draw(exhibit)
            spent += len(view.drawing.uri) if view.drawing else 0
            if spent > share:
                break
            drawn.append(view)
        views.append(tuple(drawn))
    return views


def _draw(exhibit: Exhibit) -> ExhibitView:
    try:
        drawing = draw_exhibit(exhibit)
    except NotDrawable:
        drawing = None
    faults = tuple(_cut(fault) for fault in exhibit.faults)
    return ExhibitView(_cut(exhibit.name), faults, drawing)


def _view_split(split: SplitHealth, exhibits: tuple[ExhibitView, ...]) -> SplitView:
    census = split.census
    classes = split.classes()
    tiles = (
        ("pictures", f"{split.images:,}"),
        ("without an object", f"{len(split.names) - len(census.image_ids):,}"),
        ("objects", f"{census.objects:,}"),
        ("crowds", f"{census.crowds:,}"),
        ("categories", f"{len(split.categories):,}"),
    )
    return SplitView(
        name=split.split.name,
        tiles=tiles,
        pictures=words_of_pictures(split),
        categories=words_of_categories(split),
        classes=tuple(
            (
                f"{one.category_id} {_cut(one.name)}",
                f"{one.objects:,}",
                *(f"{getattr(one, size):,}" for size in SIZES),
                f"{one.crowds:,}",
                f"{one.pictures:,}",
            )
            for one in classes[:CLASSES_SHOWN]
        ),
        more_classes=max(0, len(classes) - CLASSES_SHOWN),
        findings=_view_findings(split),
        exhibits=exhibits,
    )


def _view_findings(split: SplitHealth) -> tuple[FaultView, ...]:
    views = [
        FaultView(found.code, found.severity, _TONES[found.severity], found.message, 0, "", (), 0)
        for found in (*split.of_file, *split.of_content, *split.of_folder)
    ]
    views += [_view_fault(*one) for one in split.faults()]
    return tuple(sorted(views, key=lambda view: _ORDER[view.severity]))


def _view_fault(rule: Rule, severity: Severity, fault: Fault) -> FaultView:
    places = tuple(_cut(place) for place in fault.places[:PLACES_SHOWN])
    return FaultView(
        code=rule.code,
        severity=severity,
        tone=_TONES[severity],
        title=rule.what,
        count=fault.count,
        remedy=rule.remedy,
        places=places,
        more=fault.count - len(places),
    )


def _cut(text: str) -> str:
    """Return a text that the page has room for."""
    return text if len(text) <= TEXT_SHOWN else f"{text[:TEXT_SHOWN]}…"
