"""Made-up pictures, as many objects in each as COCO has, at any size."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from bench.reference_loop import ReferenceBatch
from training.maskrcnn.data.batch import Batch, Picture, Target, collate
from training.maskrcnn.data.mask_crops import MaskCrops

OBJECTS = 7.3
"""Of a picture, on average, in COCO's train2017: 860,001 in 117,266 pictures that have any."""
SMALLEST, LARGEST = 0.03, 0.6
"""Height and width of an object, as a share of the picture's."""
CATEGORIES = 80


@dataclass(frozen=True)
class Scene:
    """Ellipses on noise; all lengths are shares of the picture's sides."""

    seed: int

    @lru_cache(maxsize=256)  # noqa: B019 (the process ends with the bench)
    def draw(self, height: int, width: int) -> Drawn:
        """Draw it at a size."""
        random = np.random.default_rng(self.seed)
        count = max(1, int(random.poisson(OBJECTS)))
        shares = np.exp(random.uniform(np.log(SMALLEST), np.log(LARGEST), (count, 2)))
        centers = random.uniform(shares / 2, 1 - shares / 2)
        labels = random.integers(1, CATEGORIES + 1, count)
        noise = random.integers(0, 256, (3, 32, 32), dtype=np.uint8)
        pixels = np.ascontiguousarray(
            noise[:, np.arange(height) * 32 // height][:, :, np.arange(width) * 32 // width]
        )
        masks = np.zeros((count, height, width), np.uint8)
        boxes = np.zeros((count, 4), np.float32)
        sides = np.array([height, width])
        for mask, box, share, center in zip(masks, boxes, shares, centers, strict=True):
            top, left = np.floor((center - share / 2) * sides).astype(int)
            inside = _ellipse(share * sides, center * sides - (top, left))
            inside = inside[: height - top, : width - left]
            bottom, right = top + inside.shape[0], left + inside.shape[1]
            mask[top:bottom, left:right] = inside
            pixels[:, top:bottom, left:right][:, inside] = random.integers(0, 256, (3, 1))
            rows, columns = (np.flatnonzero(inside.any(axis=axis)) for axis in (1, 0))
            box[:] = left + columns[0], top + rows[0], left + columns[-1] + 1, top + rows[-1] + 1
        return Drawn(pixels, boxes, labels, masks)


def _ellipse(diameters: NDArray[Any], center: NDArray[Any]) -> NDArray[np.bool_]:
    """Return the pixels inside an ellipse whose frame begins in the first pixel; one at least."""
    radii = np.maximum(diameters, 2) / 2
    height, width = np.ceil(center + radii).astype(int)
    y = (np.arange(height) + 0.5 - center[0]) / radii[0]
    x = (np.arange(width) + 0.5 - center[1]) / radii[1]
    return np.asarray(y[:, None] ** 2 + x[None, :] ** 2 <= 1)


@dataclass(frozen=True)
class Drawn:
    """A scene at a size."""

    pixels: NDArray[np.uint8]
    """(3, H, W)."""
    boxes: NDArray[np.float32]
    """(N, 4) xyxy."""
    labels: NDArray[Any]
    """(N,) from 1."""
    masks: NDArray[np.uint8]
    """(N, H, W)."""


def our_batch(scenes: Sequence[Scene], size: tuple[int, int]) -> Batch:
    """Return what our loader hands over: pictures resized by its workers, masks cut."""
    return collate([_our_picture(scene, size) for scene in scenes])


def _our_picture(scene: Scene, size: tuple[int, int]) -> Picture:
    drawn = scene.draw(*size)
    return Picture(
        pixels=torch.from_numpy(drawn.pixels),
        target=Target(
            boxes=torch.from_numpy(drawn.boxes),
            labels=torch.from_numpy(drawn.labels),
            masks=MaskCrops.cut(torch.from_numpy(drawn.masks)),
            crowds=torch.zeros((0, 4)),
            seed=scene.seed,
        ),
        image_id=scene.seed,
        file=f"{scene.seed}.jpg",
    )


def reference_batch(scenes: Sequence[Scene], size: tuple[int, int]) -> ReferenceBatch:
    """Return what the reference's loader hands over: pictures and whole masks at the file's size,
    which its model resizes."""
    drawn = [scene.draw(*size) for scene in scenes]
    targets = [
        {
            "boxes": torch.from_numpy(one.boxes),
            "labels": torch.from_numpy(one.labels),
            "masks": torch.from_numpy(one.masks),
        }
        for one in drawn
    ]
    return [torch.from_numpy(one.pixels) / 255 for one in drawn], targets
