"""Reading of COCO annotation files into compact records.

Each file is parsed once. What stays in memory are arrays and bytes: hundreds of thousands of small
Python objects would be copied into each loader process bit by bit as their reference counts move.
"""

from __future__ import annotations

import json
import math
import os
import pickle
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from training.errors import JobFailed
from training.layout import TrainChannel

Outline = list[list[float]] | dict[str, Any]
"""Polygons, each x, y, x, y, ... in pixels; or a run-length encoding with `size` and `counts`."""


@dataclass(frozen=True, slots=True)
class Record:
    """One picture with its annotations, in pixels of the picture's file."""

    image_id: int
    file: Path
    height: int
    width: int
    boxes: NDArray[np.float32]
    """(N, 4) xyxy, cut at the picture's frame."""
    labels: NDArray[np.int64]
    """(N,) from 1, by rising category id."""
    is_crowd: NDArray[np.bool_]
    """(N,): the annotation stands for a group of objects."""
    areas: NDArray[np.float64]
    """(N,) as annotated; evaluation sorts objects by size with it."""
    pickled_outlines: bytes

    def outlines(self) -> list[Outline]:
        """Return the N outlines."""
        outlines: list[Outline] = pickle.loads(self.pickled_outlines)  # noqa: S301 (our own bytes)
        return outlines


@dataclass(frozen=True)
class Split:
    """One annotation file with its folder of pictures."""

    name: str
    records: tuple[Record, ...]
    """By rising image id."""
    categories: Mapping[int, str]
    """Category id to name, by rising id."""
    skipped: tuple[str, ...]
    """Which annotations cannot be used, and why."""


class _BadAnnotation(Exception):
    """Why one annotation cannot be used."""


def read_split(channel: TrainChannel, name: str) -> Split:
    """Read one split, for example `train2017`.

    Raises:
        JobFailed: A file is missing, or the annotation file is not what COCO's format says.
    """
    path = channel.annotations(name)
    document = _read_document(path)
    try:
        categories = {int(c["id"]): str(c["name"]) for c in document["categories"]}
        images = {int(image["id"]): image for image in document["images"]}
        annotations = document["annotations"]
        if len(images) < len(document["images"]):
            raise JobFailed(f"{path}: an image id occurs twice; run: python -m training.data check")
        categories = dict(sorted(categories.items()))
        by_image, skipped = _read_annotations(annotations, images, categories)
        records = tuple(
            _make_record(image, channel.images(name), by_image[image_id])
            for image_id, image in sorted(images.items())
        )
    except (KeyError, TypeError, ValueError) as error:
        raise JobFailed(
            f"{path}: not in COCO's instance format ({type(error).__name__}: {error}); "
            "run: python -m training.data check"
        ) from error
    _check_files(records, channel.images(name))
    return Split(name, records, categories, tuple(skipped))


def _read_document(path: Path) -> dict[str, Any]:
    try:
        document = json.loads(path.read_bytes())
    except OSError as error:
        raise JobFailed(
            f"{path}: cannot be read ({error.strerror}); the train channel needs "
            "annotations/instances_<split>.json for each split of data_train and data_val"
        ) from error
    except ValueError as error:
        raise JobFailed(f"{path}: not JSON ({error})") from error
    if not isinstance(document, dict):
        raise JobFailed(f"{path}: expected an object with images, annotations and categories")
    return document


@dataclass(frozen=True, slots=True)
class _Annotation:
    box: tuple[float, float, float, float]
    label: int
    is_crowd: bool
    area: float
    outline: Outline


def _read_annotations(
    annotations: Sequence[Mapping[str, Any]],
    images: Mapping[int, Mapping[str, Any]],
    categories: Mapping[int, str],
) -> tuple[dict[int, list[_Annotation]], list[str]]:
    """Return the usable annotations by image id, and why the others are not."""
    labels = {category: label for label, category in enumerate(categories, start=1)}
    by_image: dict[int, list[_Annotation]] = {image_id: [] for image_id in images}
    skipped: list[str] = []
    for place, annotation in enumerate(annotations):
        try:
            image_id = annotation["image_id"]
            image = images.get(image_id)
            if image is None:
                raise _BadAnnotation("its image is not in the file")
            by_image[image_id].append(_read_annotation(annotation, image, labels))
        except _BadAnnotation as error:
            where = f"image {image_id}" + (f" ({image['file_name']})" if image else "")
            skipped.append(f"annotation {annotation.get('id')} of {where}: {error}")
        except (AttributeError, KeyError, OverflowError, TypeError, ValueError) as error:
            # Anything may stand in a file that others made.
            problem = f"{type(error).__name__}: {error}"
            skipped.append(f"annotations[{place}]: not of COCO's form ({problem})")
    return by_image, skipped


def _read_annotation(
    annotation: Mapping[str, Any], image: Mapping[str, Any], labels: Mapping[int, int]
) -> _Annotation:
    if annotation["category_id"] not in labels:
        raise _BadAnnotation(f"its category {annotation['category_id']} is not in the file")
    box = _cut_box(annotation["bbox"], image["width"], image["height"])
    outline = _usable_outline(annotation.get("segmentation"), [image["height"], image["width"]])
    return _Annotation(
        box,
        labels[annotation["category_id"]],
        bool(annotation.get("iscrowd", 0)),
        float(annotation.get("area", (box[2] - box[0]) * (box[3] - box[1]))),
        outline,
    )


def _cut_box(bbox: Any, width: int, height: int) -> tuple[float, float, float, float]:
    """Turn x, y, width, height into xyxy inside the frame."""
    if (
        not isinstance(bbox, list)
        or len(bbox) != 4
        or not all(isinstance(side, int | float) and math.isfinite(side) for side in bbox)
    ):
        raise _BadAnnotation(f"its box {bbox!r} is not four numbers")
    left, top = max(bbox[0], 0), max(bbox[1], 0)
    right, bottom = min(bbox[0] + bbox[2], width), min(bbox[1] + bbox[3], height)
    if bbox[2] <= 0 or bbox[3] <= 0:
        raise _BadAnnotation(f"its box {bbox} has no area")
    if right <= left or bottom <= top:
        raise _BadAnnotation(f"its box {bbox} is out of the frame of {width} x {height}")
    return (left, top, right, bottom)


def _usable_outline(segmentation: Any, size: list[int]) -> Outline:
    if isinstance(segmentation, dict):
        if segmentation.get("size") != size or not isinstance(
            segmentation.get("counts"), str | list
        ):
            raise _BadAnnotation(f"its run-length encoding is not one of height, width {size}")
        return segmentation
    polygons = [polygon for polygon in segmentation or [] if _is_polygon(polygon)]
    if not polygons:
        raise _BadAnnotation("it has no outline (segmentation)")
    return polygons


def _is_polygon(polygon: Any) -> bool:
    """Tell polygons from lines and points, of which COCO has a few among good polygons."""
    if not isinstance(polygon, list) or len(polygon) < 6 or len(polygon) % 2:
        return False
    try:
        return bool(np.isfinite(np.asarray(polygon, np.float64)).all())
    except (TypeError, ValueError):
        return False


def _make_record(
    image: Mapping[str, Any], folder: Path, annotations: Sequence[_Annotation]
) -> Record:
    if image["width"] <= 0 or image["height"] <= 0:
        raise ValueError(f"image {image['id']} has width {image['width']}")
    return Record(
        image_id=int(image["id"]),
        file=folder / image["file_name"],
        height=int(image["height"]),
        width=int(image["width"]),
        boxes=np.array([a.box for a in annotations], np.float32).reshape(-1, 4),
        labels=np.array([a.label for a in annotations], np.int64),
        is_crowd=np.array([a.is_crowd for a in annotations], np.bool_),
        areas=np.array([a.area for a in annotations], np.float64),
        pickled_outlines=pickle.dumps([a.outline for a in annotations]),
    )


def _check_files(records: Sequence[Record], folder: Path) -> None:
    """Raise JobFailed where a picture is missing, with one listing rather than a call a file."""
    try:
        there = {Path(entry) for entry in _walk(folder)}
    except OSError as error:
        raise JobFailed(f"{folder}: cannot be listed ({error.strerror})") from error
    missing = [record.file for record in records if record.file not in there]
    if missing:
        raise JobFailed(
            f"{folder}: {len(missing)} of {len(records)} pictures are missing, the first is "
            f"{missing[0].name}; stage the data again: python -m training.data stage"
        )


def _walk(folder: Path) -> Iterator[str]:
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.is_dir():
                yield from _walk(Path(entry.path))
            else:
                yield entry.path
