from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pycocotools import mask as coco_mask

from training.maskrcnn.data import masks

Size = tuple[int, int]
SQUARE = [[10.0, 4.0, 18.0, 4.0, 18.0, 12.0, 10.0, 12.0]]


def draw(outlines: list[Any], original: Size, resized: Size, **changes: bool) -> Any:
    """Return whole masks: (N, height, width)."""
    return masks.draw(outlines, original, resized, **changes).whole().numpy()


@pytest.mark.parametrize("scale", [1, 2, 5])
def test_a_polygon_is_scaled_with_its_picture(scale: int) -> None:
    (mask,) = draw([SQUARE], (20, 40), (20 * scale, 40 * scale))
    rows, columns = np.nonzero(mask)
    assert (rows.min(), rows.max() + 1) == (4 * scale, 12 * scale)
    assert (columns.min(), columns.max() + 1) == (10 * scale, 18 * scale)
    assert mask.sum() == (8 * scale) ** 2


def test_run_lengths_compressed_or_not_draw_the_same() -> None:
    truth = np.zeros((20, 40), np.uint8)
    truth[4:12, 10:18] = 1
    compressed = coco_mask.encode(np.asfortranarray(truth))
    flat = truth.ravel(order="F")
    edges = np.flatnonzero(np.diff(np.concatenate([[0], flat, [0]])))
    counts = np.diff(np.concatenate([[0], edges, [flat.size]])).tolist()
    same, small = (
        draw([compressed, {"size": [20, 40], "counts": counts}], (20, 40), size)
        for size in ((20, 40), (10, 20))
    )
    assert (same == truth).all()
    assert (small[0] == small[1]).all()
    assert small[0].sum() == 16


def test_no_outlines_give_no_masks() -> None:
    assert draw([], (20, 40), (10, 20)).shape == (0, 10, 20)


@given(
    st.lists(st.tuples(st.floats(-20, 60), st.floats(-12, 30)), min_size=3, max_size=9),
    st.sampled_from([(20, 40), (33, 71), (9, 14)]),
)
def test_a_polygon_is_drawn_as_on_the_whole_picture(
    points: list[tuple[float, float]], size: tuple[int, int]
) -> None:
    scale = np.array([size[1] / 40, size[0] / 20])
    scaled = (np.array(points) * scale).ravel().tolist()
    whole = coco_mask.decode(coco_mask.merge(coco_mask.frPyObjects([scaled], *size)))
    (mask,) = draw([[[side for point in points for side in point]]], (20, 40), size)
    # Of a slanting line that meets the middle between two pixels, rounding may decide.
    assert (mask != whole).sum() <= 1
