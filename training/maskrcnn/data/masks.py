"""Outlines to masks, at the size of the resized picture."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image
from pycocotools import mask as coco_mask

from training.maskrcnn.data.coco import Outline

Mask = NDArray[np.uint8]


def draw(
    outlines: Sequence[Outline], original: tuple[int, int], resized: tuple[int, int]
) -> NDArray[np.uint8]:
    """Draw outlines as masks.

    Polygons are scaled before they are drawn, which keeps small objects sharper than scaling
    their masks would.

    Args:
        outlines: N outlines in pixels of the original picture.
        original: Height and width that the outlines belong to.
        resized: Height and width of the masks.

    Returns:
        (N, height, width) uint8, 0 or 1.
    """
    masks = np.zeros((len(outlines), *resized), np.uint8)
    for mask, outline in zip(masks, outlines, strict=True):
        if isinstance(outline, list):
            mask[:] = _draw_polygons(outline, original, resized)
        else:
            mask[:] = _resize(coco_mask.decode(to_rle(outline, original)), resized)
    return masks


def to_rle(outline: Outline, size: tuple[int, int]) -> dict[str, Any]:
    """Return the outline as COCO's compressed run-length encoding."""
    rle: dict[str, Any] = outline if isinstance(outline, dict) else {}
    if isinstance(outline, list):
        rle = coco_mask.merge(coco_mask.frPyObjects(outline, *size))
    elif isinstance(outline["counts"], list):
        rle = coco_mask.frPyObjects(outline, *size)
    return rle


def _draw_polygons(
    polygons: list[list[float]], original: tuple[int, int], resized: tuple[int, int]
) -> Mask:
    scale = np.array([resized[1] / original[1], resized[0] / original[0]])
    scaled = [(np.reshape(polygon, (-1, 2)) * scale).ravel().tolist() for polygon in polygons]
    mask: Mask = coco_mask.decode(to_rle(scaled, resized))
    return mask


def _resize(mask: Mask, size: tuple[int, int]) -> Mask:
    image = Image.fromarray(mask).resize((size[1], size[0]), Image.Resampling.NEAREST)
    return np.asarray(image)
