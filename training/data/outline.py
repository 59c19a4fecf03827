"""Exact polygons of a mask, as COCO writes the objects that are not crowds.

COCO has no polygon with a hole, and a trainer that reads polygons only (TensorPack's does) must see
the same mask as one that reads RLE. So a mask is cut through its holes, and each piece is traced
along the edges of its pixels; pycocotools fills those polygons back to the same pixels.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

Mask = NDArray[np.bool_]
"""(H, W) bool, True on the object."""

Corner = tuple[int, int]
"""x, y of a pixel's corner: pixel (x, y) covers x..x+1, y..y+1."""


def polygons(mask: Mask, left: int = 0, top: int = 0) -> list[list[int]]:
    """Return COCO's polygons, each [x, y, x, y, …] in pixels, whose union is the mask.

    `left` and `top` say where the mask lies in its picture, if it is a part of it.
    """
    return [
        [value for x, y in ring for value in (x + left, y + top)] for ring in _outer_rings(mask)
    ]


def _outer_rings(mask: Mask) -> Iterator[list[Corner]]:
    rings = list(_trace(mask))
    hole = next((ring for ring in rings if _signed_area(ring) < 0), None)
    if hole is None:
        yield from rings
        return
    cut = sum(x for x, _ in hole) // len(hole)
    left, right = mask.copy(), mask.copy()
    left[:, cut:] = False
    right[:, :cut] = False
    yield from _outer_rings(left)
    yield from _outer_rings(right)


def _trace(mask: Mask) -> Iterator[list[Corner]]:
    """Yield each border as the corners where it turns; the object lies on its right.

    Outer borders have a positive signed area, holes a negative one. Pixels that touch at a corner
    only are apart.
    """
    edges = _edges(mask)
    while edges:
        start = at = next(iter(edges))
        heading: Corner | None = None
        ring: list[Corner] = []
        while True:
            ends = edges[at]
            # Where two pixels touch at a corner there are two ways on: turning right stays on
            # this pixel.
            right = None if heading is None else (at[0] - heading[1], at[1] + heading[0])
            to = right if right in ends else ends[0]
            ends.remove(to)
            if not ends:
                del edges[at]
            step = (to[0] - at[0], to[1] - at[1])
            if step != heading:
                ring.append(at)
            heading, at = step, to
            if at == start:
                break
        yield ring


def _edges(mask: Mask) -> dict[Corner, list[Corner]]:
    """Return every pixel edge between object and background, from its start to its ends."""
    padded = np.pad(mask, 1)
    edges: dict[Corner, list[Corner]] = {}
    rows, columns = np.nonzero(padded[1:, 1:-1] != padded[:-1, 1:-1])
    inside = padded[1:, 1:-1][rows, columns]
    for x, y, below in zip(columns.tolist(), rows.tolist(), inside.tolist(), strict=True):
        start, end = ((x, y), (x + 1, y)) if below else ((x + 1, y), (x, y))
        edges.setdefault(start, []).append(end)
    rows, columns = np.nonzero(padded[1:-1, 1:] != padded[1:-1, :-1])
    inside = padded[1:-1, 1:][rows, columns]
    for x, y, beside in zip(columns.tolist(), rows.tolist(), inside.tolist(), strict=True):
        start, end = ((x, y + 1), (x, y)) if beside else ((x, y), (x, y + 1))
        edges.setdefault(start, []).append(end)
    return edges


def _signed_area(ring: list[Corner]) -> int:
    """Return twice the area, positive where the ring runs clockwise on the screen."""
    turned = ring[1:] + ring[:1]
    return sum(x0 * y1 - x1 * y0 for (x0, y0), (x1, y1) in zip(ring, turned, strict=True))
