"""A made-up truth of val2017's size with made-up detections, to time evaluation by.

5,000 pictures, 48 of them empty, 36,781 annotations, 446 of those crowds, 80 categories, as
https://cocodataset.org/#download has them; 41% of the objects are small and 24% large
(https://cocodataset.org/#detection-eval).
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray
from pycocotools import mask as coco_mask

PICTURES = 5_000
ANNOTATIONS_OF_A_PICTURE = 36_781 / PICTURES
EMPTY_SHARE = 48 / PICTURES
CROWD_SHARE = 446 / 36_781
MOST_DETECTIONS = 100
"""A picture has from 1 to so many, each number as likely."""
FRAMES = ((480, 640), (640, 480), (427, 640), (640, 427))
"""Height and width, pixels."""
CATEGORY_IDS = [number for number in range(1, 91) if number % 9 != 0]
SIDE_LOG_MEAN, SIDE_LOG_DEVIATION = 3.73, 1.18
"""Of the logarithm of an object's side, so that 41% are under 32 pixels and 24% over 96."""
FOUND_SHARE = 0.85
"""Objects that have a detection."""

Box = tuple[float, float, float, float]


@dataclass(frozen=True)
class _Shape:
    """An outline around a center; angles are the same for all of its copies."""

    center: NDArray[np.float64]
    side: float
    radii: NDArray[np.float64]
    """(P,) in halves of the side."""
    category_id: int

    def points(self) -> NDArray[np.float64]:
        """Return the corners, (P, 2) x and y."""
        angles = np.linspace(0, 2 * np.pi, len(self.radii), endpoint=False)
        directions = np.stack([np.cos(angles), np.sin(angles)], axis=1)
        points: NDArray[np.float64] = self.center + self.side / 2 * self.radii[:, None] * directions
        return points

    def moved(self, random: Generator, by: float) -> _Shape:
        """Return a copy that is off by a share of the side."""
        return _Shape(
            self.center + random.normal(0, by, 2) * self.side,
            self.side * float(np.exp(random.normal(0, by))),
            np.clip(self.radii + random.normal(0, by, len(self.radii)), 0.2, 1.5),
            self.category_id,
        )


def make_evaluation_set(
    annotations: Path, *, pictures: int = PICTURES, seed: int = 1
) -> list[dict[str, Any]]:
    """Write an annotation file and return detections in COCO's result format.

    Args:
        annotations: The file to write.
        pictures: How many; everything else is in proportion.
    """
    random = np.random.default_rng(seed)
    # Some categories are much more frequent than others, as in COCO.
    weights = 1 / np.arange(2, 2 + len(CATEGORY_IDS))
    shares = weights / weights.sum()
    counts = random.poisson(ANNOTATIONS_OF_A_PICTURE / (1 - EMPTY_SHARE), pictures)
    counts[random.random(pictures) < EMPTY_SHARE] = 0
    images: list[dict[str, Any]] = []
    truth: list[dict[str, Any]] = []
    detections: list[dict[str, Any]] = []
    for image_id, count in enumerate(counts.tolist(), start=1):
        height, width = FRAMES[random.integers(len(FRAMES))]
        images.append(
            {"id": image_id, "height": height, "width": width, "file_name": f"{image_id}.jpg"}
        )
        shapes = [_shape(random, (height, width), shares) for _ in range(count)]
        for shape in shapes:
            truth.append(
                {"id": len(truth) + 1, "image_id": image_id}
                | _annotation(random, shape, (height, width))
            )
        detections += _detections(random, image_id, shapes, (height, width), shares)
    document = {
        "images": images,
        "annotations": truth,
        "categories": [{"id": number, "name": f"thing {number}"} for number in CATEGORY_IDS],
    }
    annotations.write_text(json.dumps(document), encoding="ascii")
    return detections


def _shape(random: Generator, size: tuple[int, int], shares: NDArray[np.float64]) -> _Shape:
    side = float(np.clip(random.lognormal(SIDE_LOG_MEAN, SIDE_LOG_DEVIATION), 4, min(size)))
    height, width = size
    center = random.uniform(side / 2, np.array([width, height]) - side / 2)
    return _Shape(
        center,
        side,
        random.uniform(0.6, 1.1, int(random.integers(8, 48))),
        int(random.choice(CATEGORY_IDS, p=shares)),
    )


def _box(points: NDArray[np.float64], size: tuple[int, int]) -> tuple[NDArray[np.float64], Box]:
    """Return the corners cut at the frame, and their box: x, y, width, height."""
    height, width = size
    points = np.clip(points, 0, [width, height]).round(2)
    (left, top), (right, bottom) = points.min(axis=0).tolist(), points.max(axis=0).tolist()
    return points, (left, top, right - left, bottom - top)


def _annotation(random: Generator, shape: _Shape, size: tuple[int, int]) -> dict[str, Any]:
    points, box = _box(shape.points(), size)
    is_crowd = bool(random.random() < CROWD_SHARE)
    outline: Any = [points.ravel().tolist()]
    rle = coco_mask.frPyObjects(outline, *size)[0]
    if is_crowd:
        drawn = coco_mask.decode(rle).ravel(order="F")
        edges = np.flatnonzero(np.diff(drawn, prepend=0))
        outline = {
            "size": list(size),
            "counts": np.diff(edges, prepend=0, append=drawn.size).tolist(),
        }
    return {
        "category_id": shape.category_id,
        "bbox": list(box),
        "area": float(coco_mask.area(rle)),
        "iscrowd": int(is_crowd),
        "segmentation": outline,
    }


def _detections(
    random: Generator,
    image_id: int,
    shapes: list[_Shape],
    size: tuple[int, int],
    shares: NDArray[np.float64],
) -> list[dict[str, Any]]:
    wanted = int(random.integers(1, MOST_DETECTIONS + 1))
    found = [
        (shape.moved(random, 0.07), float(random.beta(4, 2)))
        for shape in shapes
        if random.random() < FOUND_SHARE
    ]
    while len(found) < wanted:
        # Half of the others are second tries at an object, half are nothing.
        if shapes and random.random() < 0.5:
            shape = shapes[random.integers(len(shapes))].moved(random, 0.3)
        else:
            shape = _shape(random, size, shares)
        found.append((shape, float(random.beta(1, 4))))
    found = sorted(found, key=lambda one: -one[1])[:wanted]
    corners = [_box(shape.points(), size) for shape, _ in found]
    rles = coco_mask.frPyObjects([points.ravel().tolist() for points, _ in corners], *size)
    return [
        {
            "image_id": image_id,
            "category_id": shape.category_id,
            "bbox": list(box),
            "score": score,
            "segmentation": {"size": rle["size"], "counts": rle["counts"].decode("ascii")},
        }
        for (shape, score), (_, box), rle in zip(found, corners, rles, strict=True)
    ]
