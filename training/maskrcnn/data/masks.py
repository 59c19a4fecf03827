"""Outlines to masks in the resized picture."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image
from pycocotools import mask as coco_mask

from training.maskrcnn.data.mask_crops import MaskCrops, frame_around, with_margin
from training.maskrcnn.data.record import Outline

Mask = NDArray[np.uint8]
Frame = tuple[int, int, int, int]
"""Of a crop, xyxy, in the resized picture."""

FIFTHS = 5
"""In a pixel: how finely pycocotools draws (`scale` in rleFrPoly of common/maskApi.c)."""


def draw(
    outlines: Sequence[Outline],
    original: tuple[int, int],
    resized: tuple[int, int],
    *,
    is_mirrored: bool = False,
) -> MaskCrops:
    """Draw N outlines as masks.

    Polygons are scaled before they are drawn, which keeps small objects sharper than scaling
    their masks would.

    Args:
        outlines: In pixels of the original picture.
        original: Height and width that the outlines belong to.
        resized: Height and width of the picture that the masks are for.
        is_mirrored: That picture is mirrored left to right.
    """
    drawn = [_draw_outline(outline, original, resized) for outline in outlines]
    if is_mirrored:
        drawn = [_mirror(crop, frame, resized[1]) for crop, frame in drawn]
    return MaskCrops.joined([crop for crop, _ in drawn], [frame for _, frame in drawn], resized)


def _draw_outline(
    outline: Outline, original: tuple[int, int], resized: tuple[int, int]
) -> tuple[Mask, Frame]:
    if isinstance(outline, list):
        return _draw_polygons(outline, original, resized)
    whole = _resize(coco_mask.decode(to_rle(outline, original)), resized)
    left, top, right, bottom = frame = frame_around(whole)
    return whole[top:bottom, left:right], frame


def _mirror(crop: Mask, frame: Frame, width: int) -> tuple[Mask, Frame]:
    left, top, right, bottom = frame
    return crop[:, ::-1], (width - right, top, width - left, bottom)


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
) -> tuple[Mask, Frame]:
    """Draw scaled polygons, on no more of the picture than they reach: most objects are small."""
    height, width = resized
    scale = np.array([width / original[1], height / original[0]])
    # As pycocotools rounds them: its corners lie on fifths of a pixel.
    scaled = [np.trunc(np.reshape(p, (-1, 2)) * scale * FIFTHS + 0.5) for p in polygons]
    points = np.concatenate(scaled) / FIFTHS
    reached = (
        *np.floor(points.min(axis=0)).astype(int).tolist(),
        # One more than the last pixel, which pycocotools may still touch.
        *(np.ceil(points.max(axis=0)).astype(int) + 1).tolist(),
    )
    left, top, right, bottom = frame = with_margin(reached, resized)
    if right <= left or bottom <= top:
        return np.zeros((0, 0), np.uint8), (0, 0, 0, 0)
    corner = np.array([left, top]) * FIFTHS
    moved = [_off_ties(polygon - corner).ravel().tolist() for polygon in scaled]
    return coco_mask.decode(to_rle(moved, (bottom - top, right - left))), frame


def _off_ties(fifths: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return pixels that pycocotools, which adds a half and cuts, rounds to these whole fifths."""
    off = np.where(fifths < 0, fifths - 0.75, fifths)
    pixels: NDArray[np.float64] = off / FIFTHS
    return pixels


def _resize(mask: Mask, size: tuple[int, int]) -> Mask:
    image = Image.fromarray(mask).resize((size[1], size[0]), Image.Resampling.NEAREST)
    return np.asarray(image)
