from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from training.maskrcnn.data.coco import Record, read_split
from training.maskrcnn.data.pictures import BrokenPicture, decode, resize, resized_size


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
    assert resize(decode(record), (10, 30)).shape == (10, 30, 3)
