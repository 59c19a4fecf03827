"""Decoding and resizing of picture files."""

from __future__ import annotations

from io import BytesIO

import numpy as np
import torch
from numpy.typing import NDArray
from PIL import Image, UnidentifiedImageError
from torch import Tensor
from torch.nn.functional import interpolate

from training.data.picture_file import DEEP_MODES, OPENED_AS
from training.maskrcnn.data.record import Record

DRAFT_FACTOR = 2
"""A picture is decoded at no less than so many times the size that is wanted: from there on the
result can hardly be told from that of the whole picture (Pillow's `reducing_gap`:
https://pillow.readthedocs.io/en/stable/reference/Image.html#PIL.Image.Image.thumbnail)."""


class BrokenPicture(Exception):
    """A picture's file cannot be used; the message says which and why."""


def decode(record: Record, size: tuple[int, int] | None = None) -> Image.Image:
    """Read a picture as RGB.

    EXIF orientation is ignored: COCO's annotations belong to the pixels as they are stored.

    Args:
        record: Whose picture.
        size: Height and width that it will be scaled to. Where it is much larger than that, a JPEG
            is decoded at a half, a quarter or an eighth of its size, which leaves out most of the
            work after the entropy decoder.

    Raises:
        BrokenPicture: The file cannot be read to its end or has another size than annotated.
    """
    try:
        with Image.open(BytesIO(record.read()), formats=OPENED_AS) as image:
            _require_eight_bits(image)
            frame = image.size
            if size is not None and frame == (record.width, record.height):
                image.draft(None, (DRAFT_FACTOR * size[1], DRAFT_FACTOR * size[0]))
            picture = image.convert("RGB")
    except Exception as error:  # Decoders raise many kinds for broken files.
        raise BrokenPicture(f"image {record.image_id} ({record.file}): {_reason(error)}") from error
    if frame != (record.width, record.height):
        raise BrokenPicture(
            f"image {record.image_id} ({record.file}): is {frame[0]} x {frame[1]}, "
            f"annotated as {record.width} x {record.height}"
        )
    return picture


def _reason(error: Exception) -> str:
    """Return why a file cannot be decoded; the same each time, by which a run knows it again."""
    if isinstance(error, UnidentifiedImageError):
        # Pillow's own message has an address in memory.
        return "cannot identify the file as a picture"
    return str(error)


def _require_eight_bits(image: Image.Image) -> None:
    """Refuse what would turn white: all values above 255 become 255."""
    if image.mode in DEEP_MODES:
        raise ValueError(
            f"has more than 8 bits a value ({image.mode}); python -m training.data check --fix "
            "scales it"
        )


def resized_size(size: tuple[int, int], *, short_side: int, max_side: int) -> tuple[int, int]:
    """Return height and width of a picture after resizing, its proportions kept."""
    scale = min(short_side / min(size), max_side / max(size))
    height, width = (max(1, round(side * scale)) for side in size)
    return height, width


def load(record: Record, size: tuple[int, int], *, is_mirrored: bool = False) -> Tensor:
    """Return a picture scaled to height and width: (3, height, width) uint8.

    Raises:
        BrokenPicture: The file cannot be used.
    """
    pixels = np.asarray(decode(record, size))
    return resize(np.array(pixels[:, ::-1] if is_mirrored else pixels), size)


def resize(pixels: NDArray[np.uint8], size: tuple[int, int]) -> Tensor:
    """Scale (H, W, 3) uint8 to (3, height, width) uint8.

    The filter averages over all pixels that fall together, as Pillow's does, within one level of
    it, in a third of its time.
    """
    picture = torch.from_numpy(pixels).permute(2, 0, 1)
    if tuple(picture.shape[1:]) == size:
        return picture
    return interpolate(picture[None], size=size, mode="bilinear", antialias=True)[0]
