"""A set's health in lines for people."""

from __future__ import annotations

from collections.abc import Iterator

from training.data.census import SIZES, ClassCount
from training.data.health import Health, SplitHealth, frame_range
from training.data.progress import format_bytes
from training.visible import visible

CLASSES_SHOWN = 40
_NAMES_SHOWN = 8
_HOLES_SHOWN = 12
_NAME_WIDTH = 32


def lines_of_health(health: Health) -> Iterator[str]:
    """Yield the amounts of each split, then the findings, the errors first."""
    for split in health.splits:
        if split.images or split.annotations:
            yield from _lines_of_split(split)
            yield ""
    order = {"error": 0, "warning": 1, "info": 2}
    findings = sorted(health.findings, key=lambda finding: order[finding.severity])
    for finding in findings:
        yield f"{finding.severity}: {finding.to_line()}"
    if not findings:
        yield "no findings"


def _lines_of_split(split: SplitHealth) -> Iterator[str]:
    census = split.census
    classes = split.classes()
    without = len(split.names) - len(census.image_ids)
    yield (
        f"{split.split.name}: {split.images:,} pictures, {without:,} of them without an object; "
        f"{split.annotations:,} annotations: {census.objects:,} objects, {census.crowds:,} crowds"
    )
    yield f"  pictures: {words_of_pictures(split)}"
    yield f"  {words_of_categories(split)}"
    yield from _table(classes)


def words_of_pictures(split: SplitHealth) -> str:
    """Return kinds, sizes and bytes of a split's pictures, in a line."""
    counts = split.counts
    sizes = frame_range(counts.frames) if counts else None
    if counts is None or sizes is None:
        return "none was read"
    kinds = ", ".join(f"{count:,} {kind}" for kind, count in counts.kinds.most_common(8))
    low, middle, high = (
        f"{width} x {height}"
        for width, height in (sizes["smallest"], sizes["median"], sizes["largest"])
    )
    frames = low if low == high else f"{low} to {high}, half of them up to {middle}"
    return f"{kinds}; {frames}; {format_bytes(counts.total_bytes)}"


def words_of_categories(split: SplitHealth) -> str:
    """Return how many categories there are and which ids they leave out."""
    ids = sorted(split.categories)
    if not ids:
        return "no category"
    text = f"{len(ids):,} categories, ids {ids[0]} to {ids[-1]}"
    holes = split.unused_ids()
    if not holes:
        return text
    shown = ", ".join(map(str, holes[:_HOLES_SHOWN]))
    rest = ", …" if len(holes) > _HOLES_SHOWN else ""
    return f"{text} with holes: {shown}{rest}"


def _table(classes: tuple[ClassCount, ...]) -> Iterator[str]:
    there = [one for one in classes if one.pictures]
    width = min(_NAME_WIDTH, max((len(_label(one)) for one in there), default=0))
    heads = ("objects", *SIZES, "crowds", "pictures")
    if there:
        yield f"  {'category':<{width}}" + "".join(f"{head:>11}" for head in heads)
    for one in there[:CLASSES_SHOWN]:
        values = (one.objects, one.small, one.medium, one.large, one.crowds, one.pictures)
        label = _label(one)[:width]
        yield f"  {label:<{width}}" + "".join(f"{value:>11,}" for value in values)
    if len(there) > CLASSES_SHOWN:
        yield f"  and {len(there) - CLASSES_SHOWN:,} more categories (--format json has all)"
    absent = [one for one in classes if not one.pictures]
    if absent:
        shown = ", ".join(_label(one)[:_NAME_WIDTH] for one in absent[:_NAMES_SHOWN])
        rest = ", …" if len(absent) > _NAMES_SHOWN else ""
        yield f"  without an annotation: {len(absent):,} categories: {shown}{rest}"


def _label(one: ClassCount) -> str:
    # A line break would end the table's line.
    name = " ".join(one.name.splitlines())
    return f"{one.category_id} {visible(name)}"
