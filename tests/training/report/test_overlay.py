from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from PIL import Image

from training.report.dataset import Region, to_region
from training.report.overlay import colour_of, draw_regions

GREY = (128, 128, 128)
SQUARE = [[10, 10, 60, 10, 60, 60, 10, 60]]


def drawn(region: Region, size: tuple[int, int], frame: tuple[int, int], zoom: int = 1) -> Any:
    photo = Image.new("RGB", size, GREY)
    return np.asarray(draw_regions(photo, [region], frame, zoom=zoom)).astype(int)


def region(**changes: Any) -> Region:
    values: dict[str, Any] = {"category_id": 3, "category": "", "segmentation": None, "score": None}
    return Region(**{**values, **changes})


@pytest.mark.parametrize(("size", "scale"), [((100, 200), 1), ((200, 400), 2)])
def test_a_box_alone_is_an_outline_where_it_lies_in_the_photo(
    size: tuple[int, int], scale: int
) -> None:
    pixels = drawn(region(box=(10, 50, 40, 60)), size, (100, 200))
    coloured = (pixels == colour_of(3)).all(axis=2)
    # Below the label.
    rows, columns = np.flatnonzero(coloured.any(axis=1)), np.flatnonzero(coloured.any(axis=0))
    assert (columns[0], columns[-1], rows[-1]) == (10 * scale, 50 * scale - 1, 110 * scale - 1)
    assert (pixels[80 * scale, 30 * scale] == GREY).all()


def test_lines_are_as_thick_as_the_zoom_says() -> None:
    for zoom in (1, 3):
        pixels = drawn(region(box=(10, 50, 40, 60)), (100, 200), (100, 200), zoom)
        row = (pixels[90] == colour_of(3)).all(axis=1)
        assert row[:30].sum() == zoom


def test_mask_and_box_of_a_detection_are_both_drawn() -> None:
    entry = {"category_id": 3, "bbox": [10, 10, 70, 70], "segmentation": SQUARE, "score": 0.75}
    pixels = drawn(to_region(entry, {3: "cat"}, with_box=True), (100, 100), (100, 100))
    inside = pixels[40, 30]
    assert (inside != GREY).any()
    assert (inside != colour_of(3)).any()
    assert (pixels[79, 40] == colour_of(3)).all()
    assert (pixels[70, 70] == GREY).all()


def test_what_lies_outside_or_is_no_mask_harms_nothing() -> None:
    for odd in (
        region(box=(-50, -50, 400, 400)),
        region(box=(500, 500, 10, 10)),
        region(box=(10, 10, 0, 0)),
        region(segmentation={"size": [1, 1], "counts": "0"}),
        region(segmentation=[]),
    ):
        assert drawn(odd, (100, 100), (100, 100)).shape == (100, 100, 3)
