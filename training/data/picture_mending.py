"""Change a picture file so that every program reads it alike."""

from __future__ import annotations

import struct
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

from training.data.picture_file import DEEP_MODES, OPENED_AS, SUFFIXES, Picture

if TYPE_CHECKING:
    import numpy as np
    from PIL import Image

JPEG_QUALITY = 95

_JPEGS = ("JPEG", "MPO")
_ORIENTATION = 0x0112
_SHORT = 3
"""TIFF's type of two bytes."""


@dataclass(frozen=True)
class Mending:
    """What is to be changed.

    Attributes:
        keeps_pixels: Only the EXIF tag of the rotation is reset; no pixel changes.
        turn: Turn the pixels as the tag says.
        format: JPEG or PNG: what it is written as.
    """

    keeps_pixels: bool
    turn: bool
    format: str


def mending_of(picture: Picture, *, turn: bool) -> Mending | None:
    """Return what a sound picture needs; None where it can stay as it is.

    Args:
        picture: What the file is.
        turn: Its annotations belong to the picture turned as EXIF says.
    """
    changes_pixels = (
        (turn and picture.orientation != 1)
        or picture.mode in DEEP_MODES
        or picture.mode == "CMYK"
        or bool(picture.is_transparent)
        or picture.is_animated
    )
    if not changes_pixels and picture.orientation == 1:
        return None
    return Mending(
        keeps_pixels=not changes_pixels,
        turn=turn,
        format="JPEG" if picture.format in _JPEGS else "PNG",
    )


def suffixes_after(picture: Picture, mending: Mending | None) -> tuple[str, ...]:
    """Return how the name of the file may end; the first is the usual one."""
    return SUFFIXES[picture.format if mending is None else mending.format]


def write_mended(source: Path, target: Path, mending: Mending) -> None:
    """Write the picture of a file to another one.

    Raises:
        OSError: A file cannot be read or written.
    """
    if mending.keeps_pixels and mending.format == "JPEG":
        raw = _reset_orientation(source.read_bytes())
        if raw is not None:
            target.write_bytes(raw)
            return
    from PIL import Image, ImageOps

    with Image.open(source, formats=OPENED_AS) as opened:
        opened.load()
        image = ImageOps.exif_transpose(opened) if mending.turn else opened
        image = to_eight_bits(image)
        image.info = {}
        if mending.format == "JPEG":
            image.save(target, format="JPEG", quality=JPEG_QUALITY, subsampling=0)
        else:
            image.save(target, format="PNG")


def to_eight_bits(image: Image.Image) -> Image.Image:
    """Return the picture as RGB or grey, as a person sees it."""
    if image.mode in DEEP_MODES:
        return _scale_values(image)
    if image.has_transparency_data:
        from PIL import Image as Images

        # White is what lies behind a picture on most pages and in most programs.
        image = image.convert("RGBA")
        white = Images.new("RGBA", image.size, "white")
        return Images.alpha_composite(white, image).convert("RGB")
    return image if image.mode in {"RGB", "L"} else image.convert("RGB")


def _scale_values(image: Image.Image) -> Image.Image:
    import numpy as np
    from PIL import Image as Images

    values = np.nan_to_num(np.asarray(image, dtype=np.float64))
    scaled = np.rint(np.clip(values, 0, None) * (255 / _white_of(values, image.mode)))
    return Images.fromarray(np.clip(scaled, 0, 255).astype(np.uint8))


def _white_of(values: np.ndarray[Any, Any], mode: str) -> float:
    """Return the value of white: that of the smallest usual range that holds all values."""
    brightest = float(values.max())
    usual = (1.0, 255.0, 65535.0) if mode == "F" else (255.0, 65535.0)
    return next((white for white in usual if brightest <= white), brightest)


def _reset_orientation(raw: bytes) -> bytes | None:
    """Return a JPEG's bytes with EXIF's orientation set to upright; None where that fails."""
    at = _find_orientation(raw)
    if at is None:
        return None
    place, order = at
    changed = raw[:place] + struct.pack(f"{order}H", 1) + raw[place + 2 :]
    from PIL import Image

    with Image.open(BytesIO(changed), formats=OPENED_AS) as image:
        return changed if image.getexif().get(_ORIENTATION, 1) == 1 else None


def _find_orientation(raw: bytes) -> tuple[int, str] | None:
    """Return where the value stands and its byte order, as struct writes it.

    A JPEG is a row of segments, each 0xFF, its kind and its length; EXIF is the one of kind 0xE1
    that begins with Exif, and holds a TIFF directory of entries of 12 bytes.
    """
    at = 2
    while at + 10 < len(raw) and raw[at] == 0xFF and raw[at + 1] != 0xDA:
        length = int.from_bytes(raw[at + 2 : at + 4], "big")
        if raw[at + 1] == 0xE1 and raw[at + 4 : at + 10] == b"Exif\0\0":
            return _find_in_directory(raw, at + 10)
        at += 2 + length
    return None


def _find_in_directory(raw: bytes, begin: int) -> tuple[int, str] | None:
    order = {b"II": "<", b"MM": ">"}.get(raw[begin : begin + 2])
    if order is None:
        return None
    try:
        (offset,) = struct.unpack_from(f"{order}I", raw, begin + 4)
        (entries,) = struct.unpack_from(f"{order}H", raw, begin + offset)
        for entry in range(entries):
            at = begin + offset + 2 + 12 * entry
            tag, kind = struct.unpack_from(f"{order}HH", raw, at)
            if tag == _ORIENTATION:
                return (at + 8, order) if kind == _SHORT else None
    except struct.error:
        return None
    return None
