from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from pycocotools import mask as coco_mask

from training.data.outline import Mask, polygons


def filled(mask: Mask) -> Mask:
    rle = coco_mask.merge(coco_mask.frPyObjects(polygons(mask), *mask.shape))
    return coco_mask.decode(rle).astype(bool)


@given(arrays(bool, st.tuples(st.integers(1, 12), st.integers(1, 12))).filter(np.any))
def test_polygons_of_any_mask_fill_back_to_that_mask(mask: Mask) -> None:
    assert (filled(mask) == mask).all()


@given(arrays(bool, (8, 8)).filter(np.any))
def test_every_polygon_has_three_points_or_more(mask: Mask) -> None:
    assert all(len(polygon) >= 6 and len(polygon) % 2 == 0 for polygon in polygons(mask))


def test_a_mask_with_a_hole_becomes_polygons_that_leave_it_free() -> None:
    ring = np.ones((9, 9), bool)
    ring[3:6, 3:6] = False
    assert len(polygons(ring)) > 1
    assert (filled(ring) == ring).all()


def test_polygon_of_a_rectangle_is_its_four_corners() -> None:
    mask = np.zeros((6, 8), bool)
    mask[1:4, 2:7] = True
    (polygon,) = polygons(mask)
    assert set(zip(polygon[::2], polygon[1::2], strict=True)) == {(2, 1), (7, 1), (7, 4), (2, 4)}


@pytest.mark.parametrize(("left", "top"), [(0, 0), (5, 7)])
def test_offset_moves_the_polygon_of_a_part_to_its_place_in_the_picture(
    left: int, top: int
) -> None:
    (polygon,) = polygons(np.ones((2, 3), bool), left, top)
    assert (min(polygon[::2]), min(polygon[1::2])) == (left, top)
    assert (max(polygon[::2]), max(polygon[1::2])) == (left + 3, top + 2)
