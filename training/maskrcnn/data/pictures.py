"""Decoding and resizing of picture files."""

from __future__ import annotations

import numpy as np
import torch
from numpy.typing import NDArray
from PIL import Image, UnidentifiedImageError
from torch import Tensor

from training.maskrcnn.data.coco import Record


class BrokenPicture(Exception):
    """A picture's file cannot be used; the message says which and why."""


def decode(record: Record) -> Image.Image:
    """Read a picture as RGB.

    EXIF orientation is ignored: COCO's annotations belong to the pixels as they are stored.

    Raises:
        BrokenPicture: The file cannot be read to its end or has another size than annotated.
    """
    try:
        with Image.open(record.file) as image:
            picture = image.convert("RGB")
    except (OSError, UnidentifiedImageError, SyntaxError, ValueError) as error:
        raise BrokenPicture(f"image {record.image_id} ({record.file}): {error}") from error
    except Image.DecompressionBombError as error:
        raise BrokenPicture(f"image {record.image_id} ({record.file}): {error}") from error
    if picture.size != (record.width, record.height):
        raise BrokenPicture(
            f"image {record.image_id} ({record.file}): is {picture.width} x {picture.height}, "
            f"annotated as {record.width} x {record.height}"
        )
    return picture


def resized_size(size: tuple[int, int], *, short_side: int, max_side: int) -> tuple[int, int]:
    """Return height and width of a picture after resizing, its proportions kept."""
    scale = min(short_side / min(size), max_side / max(size))
    height, width = (max(1, round(side * scale)) for side in size)
    return height, width


def resize(picture: Image.Image, size: tuple[int, int]) -> NDArray[np.uint8]:
    """Scale a picture to height and width: (height, width, 3) uint8.

    The filter averages over all pixels that fall together, also where torchvision's own
    transform would leave some out.
    """
    return np.asarray(picture.resize((size[1], size[0]), Image.Resampling.BILINEAR))


def to_tensor(pixels: NDArray[np.uint8]) -> Tensor:
    """Return (3, height, width) uint8."""
    return torch.from_numpy(np.ascontiguousarray(pixels.transpose(2, 0, 1)))
