"""Reading of COCO annotation files: judged once, and kept as a table of arrays."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from training.data.annotation import Frame, is_polygon, problems_of_annotation, shorten
from training.data.document import (
    Document,
    NotCoco,
    paused_garbage_collection,
    read_document,
)
from training.data.entries import Images, judge_categories, judge_images
from training.data.pack.index import ShardIndex
from training.data.rules import Rule
from training.data.tally import Tally
from training.errors import JobFailed
from training.layout import TrainChannel
from training.maskrcnn.data.record import Outline
from training.maskrcnn.data.records import Records
from training.maskrcnn.data.store import LooseFiles, PictureStore, Shards
from training.maskrcnn.data.table import Table
from training.maskrcnn.data.table_builder import TableBuilder
from training.maskrcnn.data.table_cache import cached_table, places_of_tables


@dataclass(frozen=True)
class Split:
    """One annotation file with its folder of pictures."""

    name: str
    records: Records
    """By rising image id."""
    categories: Mapping[int, str]
    """Category id to name, by rising id."""
    skipped: tuple[str, ...]
    """Which annotations cannot be used, and why."""


def read_split(channel: TrainChannel, name: str) -> Split:
    """Read one split, for example `train2017`.

    Raises:
        JobFailed: A file is missing, or the annotation file is not what COCO's format says.
    """
    table = open_table(channel.annotations(name), beside=channel.annotation_tables)
    store = _find_pictures(channel, name)
    _check_files(table, store, channel.images(name))
    return Split(name, Records.of(table, store), table.categories, table.skipped)


def open_table(annotations: Path, *, beside: Path | None = None) -> Table:
    """Return what an annotation file holds; a large one is parsed once.

    Args:
        annotations: The file.
        beside: The data set's folder of tables, if it has one.

    Raises:
        JobFailed: It is not what COCO's format says.
    """
    return cached_table(annotations, lambda: read_table(annotations), places_of_tables(beside))


def read_table(path: Path) -> Table:
    """Parse an annotation file.

    Raises:
        JobFailed: It is not what COCO's format says.
    """
    document = _read_document(path)
    with paused_garbage_collection():
        images, categories = _judge_entries(document)
        by_image, skipped = _read_annotations(document.annotations, images, categories)
        builder = TableBuilder()
        for image_id, frame in sorted(images.frames.items()):
            builder.add_picture(image_id, images.names[image_id], frame)
            for found in by_image[image_id]:
                builder.add_annotation(
                    found.box, found.label, found.is_crowd, found.area, found.outline
                )
        return builder.build(categories, skipped)


def _read_document(path: Path) -> Document:
    try:
        return read_document(path)
    except NotCoco as error:
        raise JobFailed(f"{path}: {error}") from error


def _judge_entries(document: Document) -> tuple[Images, Mapping[int, str]]:
    """Return pictures and categories, where every one of them is sound."""
    tally = Tally(str(document.path), skip_bad_annotations=False)
    images = judge_images(document.images, tally)
    categories = judge_categories(document.categories, tally)
    for finding in tally.findings():
        if finding.severity == "error":
            raise JobFailed(
                f"{document.path}: {finding.message}; to see all: python -m training.data check"
            )
    return images, dict(sorted(categories.items()))


@dataclass(frozen=True, slots=True)
class _Annotation:
    box: tuple[float, float, float, float]
    label: int
    is_crowd: bool
    area: float
    outline: Outline


def _read_annotations(
    annotations: Sequence[Any], images: Images, categories: Mapping[int, str]
) -> tuple[dict[int, list[_Annotation]], list[str]]:
    """Return the usable annotations by image id, and why the others are not."""
    labels = {category: label for label, category in enumerate(categories, start=1)}
    by_image: dict[int, list[_Annotation]] = {image_id: [] for image_id in images.frames}
    skipped: list[str] = []
    for place, annotation in enumerate(annotations):
        if not isinstance(annotation, dict):
            skipped.append(f"annotations[{place}]: not an object")
            continue
        faults = [
            (rule, detail)
            for rule, detail in problems_of_annotation(annotation, images.frames, labels)
            if rule.keeps_out
        ]
        if faults:
            skipped.append(_describe(place, annotation, images, *faults[0]))
        else:
            frame = images.frames[annotation["image_id"]]
            by_image[annotation["image_id"]].append(_read_annotation(annotation, frame, labels))
    return by_image, skipped


def _describe(
    place: int, annotation: Mapping[str, Any], images: Images, rule: Rule, detail: str
) -> str:
    image_id = annotation.get("image_id")
    name = images.names.get(image_id) if type(image_id) is int else None
    where = f"image {shorten(image_id)}" + (f" ({name})" if name else "")
    return (
        f"annotation {shorten(annotation.get('id'))} of {where}, annotations[{place}]: "
        f"{rule.alone}, {detail}"
    )


def _read_annotation(
    annotation: Mapping[str, Any], frame: Frame, labels: Mapping[int, int]
) -> _Annotation:
    """Return an annotation without faults; its box is cut at the frame."""
    x, y, width, height = annotation["bbox"]
    box = (max(x, 0), max(y, 0), min(x + width, frame[0]), min(y + height, frame[1]))
    return _Annotation(
        box,
        labels[annotation["category_id"]],
        bool(annotation.get("iscrowd", 0)),
        float(annotation.get("area", (box[2] - box[0]) * (box[3] - box[1]))),
        _usable_outline(annotation["segmentation"], frame),
    )


def _usable_outline(segmentation: Any, frame: Frame) -> Outline:
    """Return an outline without the lines and points of which COCO has a few among polygons."""
    if isinstance(segmentation, dict):
        return segmentation
    if len(segmentation) == 1:
        # It has been judged: alone, a bad one keeps the annotation out.
        return [*segmentation]
    return [polygon for polygon in segmentation if is_polygon(polygon, frame)]


def _find_pictures(channel: TrainChannel, name: str) -> PictureStore:
    """Return the split's shards where it has them, and else its loose files."""
    if channel.is_packed(name):
        return Shards(ShardIndex.open(channel.shards(name)))
    return LooseFiles(channel.images(name))


def _check_files(table: Table, store: PictureStore, folder: Path) -> None:
    """Raise JobFailed where a picture is missing."""
    try:
        missing = store.missing(table.image_ids, table.all_names())
    except OSError as error:
        raise JobFailed(f"{folder}: cannot be listed ({error.strerror})") from error
    if missing:
        raise JobFailed(
            f"{missing[0].parent}: {len(missing)} of {len(table)} pictures are missing, the first "
            f"is {missing[0].name}; stage the data again: python -m training.data stage"
        )
