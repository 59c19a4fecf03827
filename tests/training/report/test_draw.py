import base64
import io
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from training.report.dataset import Picture, Region
from training.report.draw import BOX, LEAST, BadPicture, draw_picture
from training.report.overlay import colour_of

SQUARE = [[100, 100, 200, 100, 200, 200, 100, 200]]


def picture(tmp_path: Path, *regions: Region, size: tuple[int, int] = (300, 300)) -> Picture:
    path = tmp_path / "grey.png"
    Image.new("RGB", size, (128, 128, 128)).save(path)
    return Picture(path, *size, truth=regions, predicted=(), hidden=0)


def region(segmentation: Any, **changes: Any) -> Region:
    fields = {"category_id": 1, "category": "thing", "score": None}
    return Region(segmentation=segmentation, **(fields | changes))


def pixels(data_uri: str) -> np.ndarray:
    head, _, packed = data_uri.partition(",")
    assert head == "data:image/webp;base64"
    return np.asarray(Image.open(io.BytesIO(base64.b64decode(packed))).convert("RGB")).astype(int)


def is_grey(pixel: np.ndarray) -> bool:
    return bool(np.ptp(pixel) < 20)


def test_a_mask_is_tinted_inside_and_nothing_outside(tmp_path: Path):
    shown = pixels(draw_picture(picture(tmp_path, region(SQUARE))).truth)
    assert not is_grey(shown[150, 150])
    assert is_grey(shown[250, 250])
    assert is_grey(shown[150, 50])


def test_truth_is_not_drawn_on_the_prediction(tmp_path: Path):
    shown = pixels(draw_picture(picture(tmp_path, region(SQUARE))).predicted)
    assert is_grey(shown[150, 150])


def test_polygons_and_run_lengths_draw_the_same(tmp_path: Path, sample: Any):
    packed = sample.rle(SQUARE, 300, 300)
    plain = {"size": [300, 300], "counts": [0, 90_000]}
    as_polygon = pixels(draw_picture(picture(tmp_path, region(SQUARE))).truth)
    as_rle = pixels(draw_picture(picture(tmp_path, region(packed))).truth)
    everything = pixels(draw_picture(picture(tmp_path, region(plain))).truth)
    assert np.array_equal(as_polygon, as_rle)
    assert not is_grey(everything[290, 290])


@pytest.mark.parametrize(
    "segmentation",
    [
        None,
        [],
        [[1, 2]],
        "text",
        {"size": [4, 4], "counts": "04"},
        {"size": [300, 300]},
        {"counts": [1]},
        3,
    ],
)
def test_a_segmentation_that_is_none_is_left_out(tmp_path: Path, segmentation: Any):
    shown = pixels(draw_picture(picture(tmp_path, region(segmentation))).truth)
    assert is_grey(shown[150, 150])


def test_a_category_has_one_colour():
    assert colour_of(3) == colour_of(3)
    assert len({colour_of(category) for category in range(12)}) == 12


@pytest.mark.parametrize(
    ("size", "shown"),
    [((640, 427), (520, 347)), ((427, 640), (240, 360)), ((128, 96), (250, 188))],
)
def test_pictures_fit_the_page(tmp_path: Path, size: tuple[int, int], shown: tuple[int, int]):
    drawn = draw_picture(picture(tmp_path, size=size))
    assert (drawn.width, drawn.height) == shown
    assert drawn.width <= BOX[0]
    assert drawn.height <= BOX[1]
    assert max(drawn.width, drawn.height) >= LEAST


@pytest.mark.parametrize("content", [b"", b"no picture", b"\x89PNG\r\n\x1a\n"])
def test_a_broken_file_is_named(tmp_path: Path, content: bytes):
    path = tmp_path / "broken.jpg"
    path.write_bytes(content)
    with pytest.raises(BadPicture, match=r"broken\.jpg"):
        draw_picture(Picture(path, 4, 4, (), (), 0))


def test_a_truncated_jpeg_is_named(tmp_path: Path, coco: Any):
    whole = (coco.images("val2017") / "000000475546.jpg").read_bytes()
    path = tmp_path / "cut.jpg"
    path.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(BadPicture, match=r"cut\.jpg"):
        draw_picture(Picture(path, 640, 427, (), (), 0))
