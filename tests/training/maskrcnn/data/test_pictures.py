from __future__ import annotations

from dataclasses import replace
from io import BytesIO
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from training.maskrcnn.data.coco import read_split
from training.maskrcnn.data.pictures import BrokenPicture, decode, load, resized_size
from training.maskrcnn.data.record import Record, make_record
from training.maskrcnn.data.store import LooseFiles
from training.maskrcnn.data.table_builder import TableBuilder


@pytest.fixture
def record(coco_set: Any) -> Record:
    """A picture of 40 x 20, which tests overwrite."""
    first: Record = read_split(coco_set.write([]), "train2017").records[0]
    return first


@pytest.mark.parametrize("mode", ["L", "CMYK", "RGB"])
def test_every_colour_mode_becomes_rgb(record: Record, mode: str) -> None:
    Image.new(mode, (40, 20)).save(record.file, format="JPEG")
    assert decode(record).mode == "RGB"


def test_exif_orientation_is_ignored(record: Record) -> None:
    exif = Image.Exif()
    exif[0x0112] = 6  # Turned by 90 degrees
    Image.new("RGB", (40, 20)).save(record.file, exif=exif)
    assert decode(record).size == (40, 20)


@pytest.mark.parametrize(
    ("content", "reason"),
    [(b"", "cannot identify"), (b"not a picture", "cannot identify"), (None, "truncated")],
)
def test_a_damaged_file_is_named(record: Record, content: bytes | None, reason: str) -> None:
    if content is None:
        noise = np.random.default_rng(0).integers(0, 255, (20, 40, 3), np.uint8)
        Image.fromarray(noise).save(record.file)
        content = record.file.read_bytes()[:-200]
    record.file.write_bytes(content)
    with pytest.raises(BrokenPicture, match=reason) as broken:
        decode(record)
    assert f"image 1 ({record.file})" in str(broken.value)
    with pytest.raises(BrokenPicture) as again:
        decode(record)
    assert str(again.value) == str(broken.value)


@pytest.mark.parametrize(
    ("image", "picture_format", "reason"),
    [
        (Image.new("I;16", (40, 20), 40_000), "PNG", "more than 8 bits a value .* check --fix"),
        (Image.new("F", (40, 20), 0.5), "TIFF", "more than 8 bits a value"),
        (Image.new("RGB", (40, 20)), "EPS", "cannot identify"),
    ],
)
def test_what_would_turn_white_or_start_another_program_is_refused(
    record: Record, image: Image.Image, picture_format: str, reason: str
) -> None:
    image.save(record.file, format=picture_format)
    with pytest.raises(BrokenPicture, match=reason):
        decode(record)


@given(st.integers(0, 400), st.binary(max_size=12))
def test_a_damaged_png_is_a_broken_picture_or_decodes(place: int, noise: bytes) -> None:
    buffer = BytesIO()
    Image.fromarray(np.arange(40 * 20, dtype=np.uint8).reshape(20, 40)).save(buffer, format="PNG")
    raw = buffer.getvalue()
    with NamedTemporaryFile(suffix=".png") as file:
        file.write(raw[:place] + noise + raw[place + len(noise) :])
        file.flush()
        try:
            assert decode(record_of(Path(file.name))).mode == "RGB"
        except BrokenPicture as broken:
            assert file.name in str(broken)


def record_of(file: Path) -> Record:
    builder = TableBuilder()
    builder.add_picture(1, file.name, (40, 20))
    return make_record(builder.build({}, ()), 0, LooseFiles(file.parent))


def test_a_missing_file_is_named(record: Record) -> None:
    Path(record.file).unlink()
    with pytest.raises(BrokenPicture, match="No such file"):
        decode(record)


def test_another_size_than_annotated_is_refused(record: Record) -> None:
    Image.new("RGB", (20, 40)).save(record.file)
    with pytest.raises(BrokenPicture, match="is 20 x 40, annotated as 40 x 20"):
        decode(record)


@pytest.mark.parametrize(
    ("size", "expected"),
    [
        ((480, 640), (800, 1067)),
        ((640, 480), (1067, 800)),
        ((500, 1000), (666, 1333)),
        ((1, 1000), (1, 1333)),
    ],
)
def test_resizing_keeps_the_sides_within_their_limits(
    size: tuple[int, int], expected: tuple[int, int]
) -> None:
    assert resized_size(size, short_side=800, max_side=1333) == expected


def test_resizing_takes_height_before_width(record: Record) -> None:
    assert load(record, (10, 30)).shape == (3, 10, 30)


def noise_of(size: tuple[int, int]) -> Image.Image:
    """Return a picture of blurred noise, by width and height."""
    small = np.random.default_rng(0).integers(0, 255, (size[1] // 8, size[0] // 8, 3), np.uint8)
    return Image.fromarray(small).resize(size, Image.Resampling.BICUBIC)


@pytest.mark.parametrize("size", [(20, 40), (33, 66), (15, 30), (60, 80)])
def test_pixels_are_those_of_pillow_within_a_level(record: Record, size: tuple[int, int]) -> None:
    noise_of((40, 20)).save(record.file, quality=95)
    expected = Image.open(record.file).resize(size[::-1], Image.Resampling.BILINEAR)
    pixels = load(record, size).permute(1, 2, 0).numpy()
    assert np.abs(pixels.astype(int) - np.asarray(expected)).max() <= (0 if size == (20, 40) else 1)


def test_a_mirrored_picture_is_mirrored(record: Record) -> None:
    noise_of((40, 20)).save(record.file)
    assert torch.equal(load(record, (20, 40), is_mirrored=True), load(record, (20, 40)).flip(2))


@pytest.mark.parametrize(("side", "decoded"), [(20, 40), (40, 80), (41, 160), (80, 160)])
def test_a_much_larger_jpeg_is_decoded_at_a_part_of_its_size(
    coco_set: Any, side: int, decoded: int
) -> None:
    record = read_split(coco_set.write([]), "train2017").records[0]
    large = replace(record, width=160, height=160)
    noise_of((160, 160)).save(record.file)
    assert decode(large, (side, side)).width == decoded
    whole = Image.open(record.file).resize((side, side), Image.Resampling.BILINEAR)
    difference = load(large, (side, side)).permute(1, 2, 0).numpy() - np.asarray(whole, float)
    assert np.abs(difference).mean() < 3


def test_a_truncated_jpeg_is_broken_at_a_part_of_its_size_too(record: Record) -> None:
    noise_of((160, 160)).save(record.file)
    record.file.write_bytes(record.file.read_bytes()[:-800])
    with pytest.raises(BrokenPicture, match="truncated"):
        decode(replace(record, width=160, height=160), (10, 10))


def test_a_picture_of_another_size_is_refused_at_a_part_of_its_size_too(record: Record) -> None:
    noise_of((160, 320)).save(record.file)
    with pytest.raises(BrokenPicture, match="is 160 x 320, annotated as 160 x 160"):
        decode(replace(record, width=160, height=160), (10, 10))
