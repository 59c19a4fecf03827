"""A few pictures of a split, the truth at the left and what was predicted at the right."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from training.maskrcnn.data.coco import Split
from training.maskrcnn.data.pictures import BrokenPicture, decode
from training.maskrcnn.data.record import Record
from training.maskrcnn.found import Found
from training.report.dataset import Region, shown_detections, to_region
from training.report.draw import fitted
from training.report.overlay import draw_regions

GAP = 8
"""Pixels between the two."""


def shown_records(split: Split, *, count: int) -> list[Record]:
    """Return up to `count` pictures, spread evenly: those with objects, if the split has any."""
    records = split.records.with_objects() or split.records
    shown = min(count, len(records))
    return [records[index * len(records) // shown] for index in range(shown)]


def drawn_pictures(
    split: Split, found: Found, *, count: int
) -> Iterator[tuple[str, NDArray[np.uint8]]]:
    """Yield names and (H, W, 3) uint8: up to `count` pictures, spread evenly, always the same ones.

    One that cannot be decoded is left out.
    """
    for record in shown_records(split, count=count):
        try:
            photo = decode(record)
        except BrokenPicture:
            continue
        detections = found.of_images([record.image_id]).to_coco()
        yield (
            record.name,
            _side_by_side(
                photo,
                record,
                _truth(record, split),
                [
                    to_region(one, split.categories, with_box=True)
                    for one in shown_detections(detections)
                ],
            ),
        )


def _truth(record: Record, split: Split) -> list[Region]:
    ids = list(split.categories)
    entries = [
        {
            "category_id": ids[label - 1],
            "bbox": [left, top, right - left, bottom - top],
            "segmentation": outline,
            "iscrowd": is_crowd,
        }
        for label, (left, top, right, bottom), outline, is_crowd in zip(
            record.labels.tolist(),
            record.boxes.tolist(),
            record.outlines(),
            record.is_crowd.tolist(),
            strict=True,
        )
    ]
    return [to_region(entry, split.categories, with_box=True) for entry in entries]


def _side_by_side(
    photo: Image.Image, record: Record, truth: list[Region], predicted: list[Region]
) -> NDArray[np.uint8]:
    frame = (record.width, record.height)
    small = fitted(photo)
    canvas = Image.new("RGB", (2 * small.width + GAP, small.height), "white")
    canvas.paste(draw_regions(small, truth, frame), (0, 0))
    canvas.paste(draw_regions(small, predicted, frame), (small.width + GAP, 0))
    return np.asarray(canvas)
