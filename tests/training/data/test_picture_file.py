from __future__ import annotations

import warnings
from collections.abc import Callable
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from training.data.picture_file import (
    NoPicture,
    Picture,
    fits_name,
    is_large,
    quiet_about_large_ones,
    read_picture,
)

PHOTO = Path(__file__).parents[2] / "data/coco/train2017/000000006818.jpg"


@pytest.mark.parametrize(
    ("mode", "picture_format"),
    [
        ("L", "JPEG"),
        ("RGB", "JPEG"),
        ("CMYK", "JPEG"),
        ("RGBA", "PNG"),
        ("P", "PNG"),
        ("I;16", "PNG"),
        ("1", "PNG"),
        ("RGB", "WEBP"),
        ("RGB", "BMP"),
        ("P", "GIF"),
        ("F", "TIFF"),
        ("RGB", "PPM"),
    ],
)
def test_format_mode_and_size_are_read_whatever_the_name_says(
    mode: str, picture_format: str, tmp_path: Path
) -> None:
    path = tmp_path / "x.jpg"
    Image.new(mode, (7, 5)).save(path, format=picture_format)
    for decode in (False, True):
        found = read_picture(path, decode=decode)
        assert isinstance(found, Picture)
        assert (found.format, found.frame, found.broken) == (picture_format, (7, 5), None)
        assert found.mode == mode


def test_pixels_are_not_decoded_unless_asked(tmp_path: Path) -> None:
    path = tmp_path / "x.png"
    Image.new("RGB", (300, 200)).save(path)
    path.write_bytes(path.read_bytes()[:60])
    header = read_picture(path, decode=False)
    assert header == Picture("PNG", "RGB", (300, 200))
    whole = read_picture(path, decode=True)
    assert isinstance(whole, Picture)
    assert whole.broken is not None


def _can_be_decoded(raw: bytes) -> bool:
    try:
        Image.open(BytesIO(raw)).load()
    except Exception:
        return False
    return True


@pytest.mark.parametrize(
    "options",
    [{}, {"progressive": True}, {"subsampling": 0}, {"restart_marker_blocks": 2}],
    ids=["baseline", "progressive", "no subsampling", "restart markers"],
)
def test_a_jpeg_is_broken_exactly_where_full_decoding_fails(
    options: dict[str, Any], tmp_path: Path
) -> None:
    # It is decoded at an eighth of its size: that must find what decoding all of it finds.
    photo = Image.open(PHOTO).resize((160, 120))
    buffer = BytesIO()
    photo.save(buffer, format="JPEG", **options)
    raw = buffer.getvalue()
    path = tmp_path / "x.jpg"
    for cut in [*range(0, len(raw), 97), *range(len(raw) - 40, len(raw) + 1)]:
        path.write_bytes(raw[:cut])
        found = read_picture(path, decode=True)
        is_whole = isinstance(found, Picture) and found.broken is None
        assert is_whole == _can_be_decoded(raw[:cut]), cut


def test_a_truncated_photo_is_broken_with_the_decoders_words(tmp_path: Path) -> None:
    path = tmp_path / "x.jpg"
    path.write_bytes(PHOTO.read_bytes()[:-3000])
    found = read_picture(path, decode=True)
    assert isinstance(found, Picture)
    assert found.broken is not None
    assert found.broken.startswith("image file is truncated")


def _alpha(lowest: int) -> Image.Image:
    image = Image.new("RGBA", (4, 4), (1, 2, 3, 255))
    image.putpixel((3, 3), (1, 2, 3, lowest))
    return image


@pytest.mark.parametrize(
    ("image", "is_transparent"),
    [
        (_alpha(255), False),
        (_alpha(254), True),
        (_alpha(0).quantize(8), True),
        (Image.new("P", (4, 4)), False),
        (Image.new("LA", (4, 4), (7, 0)), True),
        (Image.new("RGB", (4, 4)), False),
    ],
    ids=["opaque alpha", "one pixel", "palette with a clear colour", "palette", "grey", "RGB"],
)
def test_only_pixels_that_are_not_opaque_make_a_picture_transparent(
    image: Image.Image, is_transparent: bool, tmp_path: Path
) -> None:
    image.save(tmp_path / "x.png")
    found = read_picture(tmp_path / "x.png", decode=True)
    assert isinstance(found, Picture)
    assert found.is_transparent is is_transparent


@pytest.mark.parametrize("picture_format", ["GIF", "PNG", "WEBP"])
def test_more_than_one_frame_is_animated(picture_format: str, tmp_path: Path) -> None:
    frames = [Image.new("RGB", (8, 8), colour) for colour in ("red", "blue")]
    frames[0].save(tmp_path / "x", format=picture_format, save_all=True, append_images=frames[1:])
    found = read_picture(tmp_path / "x", decode=True)
    assert isinstance(found, Picture)
    assert found.is_animated


def test_what_a_phone_writes_is_a_jpeg_of_one_picture(tmp_path: Path) -> None:
    frames = [Image.new("RGB", (8, 8), colour) for colour in ("red", "blue")]
    frames[0].save(tmp_path / "x.jpg", format="MPO", save_all=True, append_images=frames[1:])
    found = read_picture(tmp_path / "x.jpg", decode=True)
    assert found == Picture("MPO", "RGB", (8, 8), is_transparent=False)
    assert fits_name("x.jpg", "MPO")


def test_a_small_file_that_claims_too_many_pixels_is_not_decoded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Image, "MAX_IMAGE_PIXELS", 1000)
    Image.new("1", (50, 50)).save(tmp_path / "x.png")
    found = read_picture(tmp_path / "x.png", decode=True)
    assert isinstance(found, NoPicture)
    assert found.is_huge
    assert found.reason.endswith("bytes that claim to be more than 2,000 pixels")


def test_a_large_picture_draws_no_warning_from_the_library(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Image, "MAX_IMAGE_PIXELS", 1000)
    Image.new("1", (40, 40)).save(tmp_path / "x.png")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with quiet_about_large_ones():
            found = read_picture(tmp_path / "x.png", decode=True)
    assert isinstance(found, Picture)
    assert is_large(found.frame)


def test_formats_that_start_other_programs_are_not_opened(tmp_path: Path) -> None:
    path = tmp_path / "x.jpg"
    Image.new("RGB", (8, 8)).save(path, format="EPS")
    found = read_picture(path, decode=True)
    assert isinstance(found, NoPicture)
    assert found.reason.startswith("not a picture of a kind that is read: JPEG, PNG")


@pytest.mark.parametrize(
    ("name", "picture_format", "fits"),
    [
        ("a.jpg", "JPEG", True),
        ("a.JPEG", "JPEG", True),
        ("a.jpg", "PNG", False),
        ("a.png", "JPEG", False),
        ("a", "JPEG", True),
        ("a.rf.0a1b2c", "JPEG", True),
    ],
)
def test_a_name_fits_its_format_or_says_none(name: str, picture_format: str, fits: bool) -> None:
    assert fits_name(name, picture_format) is fits


@pytest.mark.parametrize("make", [bytes, lambda size: np.random.default_rng(1).bytes(size)])
def test_noise_is_no_picture(make: Callable[[int], bytes], tmp_path: Path) -> None:
    (tmp_path / "x.jpg").write_bytes(make(5000))
    assert isinstance(read_picture(tmp_path / "x.jpg", decode=True), NoPicture)


@pytest.mark.parametrize("content", [b"", b"<html>", b"GIF89a", b"\0" * 600])
def test_a_content_is_judged_as_its_file_is(content: bytes, tmp_path: Path) -> None:
    (tmp_path / "x").write_bytes(content)
    assert read_picture(content, decode=True) == read_picture(tmp_path / "x", decode=True)
