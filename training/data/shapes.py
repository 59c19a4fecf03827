"""A COCO-format set of synthetic shapes: small, quick to make, and learnt in minutes.

A picture depends on the seed, the split and its number alone. So two runs write the same bytes, a
larger set begins with the pictures of a smaller one, and no picture is in both splits.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from training.data.aside import folder_aside
from training.data.outline import Mask, polygons
from training.data.progress import SILENT, Progress
from training.data.scene import CATEGORIES, Scene, SceneObject, draw_scene
from training.errors import UsageError
from training.layout import TrainChannel

VERSION = 2
"""Rises when the same seed begins to give other pictures."""

RECORD = "shapes.json"
"""In the set's folder: what it was made with."""

MOST_PICTURES = 1_000_000
JPEG_QUALITY = 92

Json = dict[str, Any]


@dataclass(frozen=True, kw_only=True)
class ShapesSet:
    """What the set is made from.

    Attributes:
        train: Pictures of train2017.
        val: Pictures of val2017.
        seed: Of every random choice.
        size: Width and height of a picture, in pixels.
    """

    train: int = 2000
    val: int = 200
    seed: int = 1
    size: int = 128

    def __post_init__(self) -> None:
        for name, value, low, high in (
            ("train", self.train, 1, MOST_PICTURES),
            ("val", self.val, 1, MOST_PICTURES),
            ("seed", self.seed, 0, 2**63 - 1),
            ("size", self.size, 64, 1024),
        ):
            if not low <= value <= high:
                raise UsageError(f"--{name} {value}: must be from {low} to {high}")

    @property
    def splits(self) -> tuple[tuple[str, int], ...]:
        return ("train2017", self.train), ("val2017", self.val)

    def record(self) -> Json:
        return {"generator": "shapes", "version": VERSION, **asdict(self)}


def make_shapes(out: Path, shapes: ShapesSet, progress: Progress = SILENT) -> bool:
    """Write the set, aside first, then renamed into place.

    Args:
        out: The set's folder: absent, empty, or holding this very set.
        shapes: What to make.
        progress: Told of each picture written.

    Returns:
        Whether it was made; False where it was there already.

    Raises:
        UsageError: `out` holds something else, or cannot be written.
        JobFailed: The disk is full, or fails.
    """
    if _is_there(out, shapes):
        return False
    with folder_aside(out, "--out") as folder:
        channel = TrainChannel(folder)
        (folder / "annotations").mkdir()
        for number, (split, _) in enumerate(shapes.splits):
            document = _make_split(channel.images(split), number, shapes, progress)
            _write_json(channel.annotations(split), document)
        _write_json(folder / RECORD, shapes.record())
    return True


def _is_there(out: Path, shapes: ShapesSet) -> bool:
    """Return whether `out` holds this set; refuse to touch anything else that it holds."""
    try:
        if not any(out.iterdir()):
            return False
    except FileNotFoundError:
        return False
    except OSError as error:
        raise UsageError(f"--out {out}: not a folder to write to ({error.strerror})") from error
    try:
        record = json.loads((out / RECORD).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        record = None
    if record != shapes.record():
        what = "not a set of shapes" if record is None else f"another set: {json.dumps(record)}"
        raise UsageError(
            f"--out {out}: holds {what}. Nothing is overwritten: name an empty folder, or remove it"
        )
    for split, pictures in shapes.splits:
        _require_whole(TrainChannel(out), split, pictures)
    return True


def _require_whole(channel: TrainChannel, split: str, pictures: int) -> None:
    folder = channel.images(split)
    found = sum(1 for _ in folder.iterdir()) if folder.is_dir() else 0
    if found != pictures or not channel.annotations(split).is_file():
        raise UsageError(
            f"--out {channel.root}: the set there is damaged ({split} has {found} of {pictures} "
            "pictures, or lacks its annotations). Remove the folder and run this again"
        )


def _make_split(folder: Path, split: int, shapes: ShapesSet, progress: Progress) -> Json:
    """Write a split's pictures into a new folder and return its COCO document."""
    folder.mkdir()
    images: list[Json] = []
    annotations: list[Json] = []
    for number in range(shapes.splits[split][1]):
        scene = draw_scene(np.random.default_rng([shapes.seed, split, number]), shapes.size)
        image_id = split * MOST_PICTURES + number + 1
        file_name = f"{image_id:012d}.jpg"
        _write_picture(scene, folder / file_name)
        images.append(
            {"id": image_id, "file_name": file_name, "width": shapes.size, "height": shapes.size}
        )
        for shape in scene.objects:
            annotations.append(_annotation(shape, len(annotations) + 1, image_id))
        progress.advance(1)
    return _document(images, annotations)


def _write_json(path: Path, document: Json) -> None:
    path.write_text(json.dumps(document) + "\n", encoding="utf-8")


def _write_picture(scene: Scene, path: Path) -> None:
    pixels = np.rint(scene.picture).astype(np.uint8)
    Image.fromarray(pixels).save(path, quality=JPEG_QUALITY, subsampling=0)


def _document(images: list[Json], annotations: list[Json]) -> Json:
    return {
        "info": {"description": "Synthetic shapes", "version": str(VERSION)},
        "licenses": [],
        "images": images,
        "annotations": annotations,
        "categories": [
            {"id": number, "name": name, "supercategory": "shape"}
            for number, name in enumerate(CATEGORIES, start=1)
        ],
    }


def _annotation(shape: SceneObject, annotation_id: int, image_id: int) -> Json:
    mask = shape.visible
    rows, columns = np.nonzero(mask.any(axis=1))[0], np.nonzero(mask.any(axis=0))[0]
    left, top = int(columns[0]), int(rows[0])
    right, bottom = int(columns[-1]) + 1, int(rows[-1]) + 1
    return {
        "id": annotation_id,
        "image_id": image_id,
        "category_id": shape.category_id,
        "bbox": [left, top, right - left, bottom - top],
        "area": int(mask.sum()),
        "segmentation": (
            _run_lengths(mask)
            if shape.is_crowd
            else polygons(mask[top:bottom, left:right], left, top)
        ),
        "iscrowd": int(shape.is_crowd),
    }


def _run_lengths(mask: Mask) -> Json:
    """Return COCO's uncompressed RLE: lengths of runs down the columns, background first."""
    flat = mask.ravel(order="F")
    turns = np.flatnonzero(flat[1:] != flat[:-1]) + 1
    counts = np.diff(np.concatenate([[0], turns, [flat.size]])).tolist()
    return {"size": list(mask.shape), "counts": [0, *counts] if flat[0] else counts}
