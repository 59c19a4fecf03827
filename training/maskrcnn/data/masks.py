"""Outlines to masks, at the size of the resized picture."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image
from pycocotools import mask as coco_mask

from training.maskrcnn.data.record import Outline

Mask = NDArray[np.uint8]

FIFTHS = 5
"""In a pixel: how finely pycocotools draws (`scale` in rleFrPoly of common/maskApi.c)."""


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
            _draw_polygons(mask, outline, original)
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


def _draw_polygons(mask: Mask, polygons: list[list[float]], original: tuple[int, int]) -> None:
    """Draw scaled polygons, on no more of the mask than they reach: most objects are small."""
    height, width = mask.shape
    scale = np.array([width / original[1], height / original[0]])
    # As pycocotools rounds them: its corners lie on fifths of a pixel.
    scaled = [np.trunc(np.reshape(p, (-1, 2)) * scale * FIFTHS + 0.5) for p in polygons]
    points = np.concatenate(scaled) / FIFTHS
    left, top = np.maximum(np.floor(points.min(axis=0)), 0).astype(int).tolist()
    # One more than the last pixel, which pycocotools may still touch.
    right, bottom = (np.ceil(points.max(axis=0)).astype(int) + 1).tolist()
    right, bottom = min(right, width), min(bottom, height)
    if right <= left or bottom <= top:
        return
    corner = np.array([left, top]) * FIFTHS
    moved = [_off_ties(polygon - corner).ravel().tolist() for polygon in scaled]
    drawn = coco_mask.decode(to_rle(moved, (bottom - top, right - left)))
    mask[top:bottom, left:right] = drawn


def _off_ties(fifths: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return pixels that pycocotools, which adds a half and cuts, rounds to these whole fifths."""
    off = np.where(fifths < 0, fifths - 0.75, fifths)
    pixels: NDArray[np.float64] = off / FIFTHS
    return pixels


def _resize(mask: Mask, size: tuple[int, int]) -> Mask:
    image = Image.fromarray(mask).resize((size[1], size[0]), Image.Resampling.NEAREST)
    return np.asarray(image)
