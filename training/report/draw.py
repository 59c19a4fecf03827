"""Draws masks over a picture and packs the result as a data URI."""

from __future__ import annotations

import base64
import io
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from training.report.dataset import Picture, Region

if TYPE_CHECKING:
    import numpy as np
    from PIL import Image, ImageDraw, ImageFont

    Mask = np.ndarray[Any, np.dtype[np.bool_]]

BOX = (520, 360)
"""Width and height in pixels that larger pictures shrink to, and small ones never exceed."""
LEAST = 250
"""Pixels; the long side of smaller pictures grows to it, so that labels can be read."""
_LEAST_LABEL = 18
"""Pixels of a region's longer side; a label on a smaller one would hide it and its neighbours."""
_FILL = 0.42
_QUALITY = 82

# Far apart in hue and light, for dark and bright pictures alike.
PALETTE = (
    (66, 135, 245),
    (255, 140, 0),
    (46, 184, 92),
    (232, 62, 140),
    (0, 190, 200),
    (154, 96, 230),
    (240, 200, 20),
    (225, 70, 60),
    (140, 190, 40),
    (170, 115, 80),
    (120, 130, 255),
    (255, 120, 190),
)
Colour = tuple[int, int, int]


class BadPicture(Exception):
    """A picture's file cannot be decoded."""


@dataclass(frozen=True)
class Drawn:
    """Both views of a picture as data URIs."""

    truth: str
    predicted: str
    width: int
    height: int


def colour_of(category_id: int) -> Colour:
    """Return a category's colour: the same in truth, prediction and every report."""
    return PALETTE[category_id % len(PALETTE)]


def draw_picture(picture: Picture) -> Drawn:
    """Draw the true regions on one copy of a picture and the predicted ones on another.

    Raises:
        BadPicture: The file is not a picture, or broken.
    """
    from PIL import Image

    try:
        with Image.open(picture.path) as opened:
            photo = opened.convert("RGB")
    except (OSError, SyntaxError, ValueError, Image.DecompressionBombError) as error:
        raise BadPicture(f"{picture.path.name} cannot be decoded") from error
    scale = _scale(photo.width, photo.height)
    photo = photo.resize((round(photo.width * scale), round(photo.height * scale)))
    return Drawn(
        truth=_data_uri(_overlay(photo, picture, picture.truth)),
        predicted=_data_uri(_overlay(photo, picture, picture.predicted)),
        width=photo.width,
        height=photo.height,
    )


def _scale(width: int, height: int) -> float:
    shrink = min(BOX[0] / width, BOX[1] / height)
    return min(shrink, max(1.0, LEAST / max(width, height)))


def _overlay(photo: Image.Image, picture: Picture, regions: Sequence[Region]) -> Image.Image:
    from PIL import ImageDraw

    drawn = photo.copy()
    masks = [(_mask(one.segmentation, picture.width, picture.height), one) for one in regions]
    there = [(_resize(mask, photo.size), one) for mask, one in masks if mask is not None]
    # Small ones lie on top of large ones, labels on top of all.
    there.sort(key=lambda pair: -int(pair[0].sum()))
    for mask, region in there:
        _tint(drawn, mask, region)
    pen = ImageDraw.Draw(drawn)
    for mask, region in there:
        _label(pen, mask, region, photo.size)
    return drawn


def _resize(mask: Mask, size: tuple[int, int]) -> Mask:
    import numpy as np
    from PIL import Image

    return np.asarray(Image.fromarray(mask).resize(size), dtype=bool)


def _tint(drawn: Image.Image, mask: Mask, region: Region) -> None:
    """Colour a region and its outline; a crowd gets half the colour and no outline."""
    import numpy as np
    from PIL import Image

    strength = np.where(mask, _FILL / 2 if region.crowd else _FILL, 0)
    if not region.crowd:
        strength[_edge(mask)] = 1
    stencil = Image.fromarray((strength * 255).astype(np.uint8))
    drawn.paste(colour_of(region.category_id), mask=stencil)


def _edge(mask: Mask) -> Mask:
    """Return the region's outermost two pixels."""
    import numpy as np

    inner = mask
    for _ in range(2):
        padded = np.pad(inner, 1)
        inner = inner & padded[:-2, 1:-1] & padded[2:, 1:-1] & padded[1:-1, :-2] & padded[1:-1, 2:]
    return mask & ~inner


def _label(pen: ImageDraw.ImageDraw, mask: Mask, region: Region, size: tuple[int, int]) -> None:
    """Write category and score above the region, or inside where there is no room."""
    import numpy as np

    rows, columns = np.flatnonzero(mask.any(axis=1)), np.flatnonzero(mask.any(axis=0))
    if not len(rows) or max(np.ptp(rows), np.ptp(columns)) < _LEAST_LABEL:
        return
    font = _font()
    text = region.category[:24] + ("" if region.score is None else f" {region.score:.2f}")
    width, height = math.ceil(pen.textlength(text, font=font)) + 8, 17
    left = min(max(0, int(columns[0])), max(0, size[0] - width))
    top = max(0, int(rows[0]) - height)
    colour = colour_of(region.category_id)
    pen.rounded_rectangle((left, top, left + width, top + height), radius=3, fill=colour)
    pen.text((left + 4, top + 2), text, fill=_ink(colour), font=font)


def _ink(colour: Colour) -> Colour:
    """Return black or white, whichever reads better on a colour."""
    red, green, blue = colour
    return (0, 0, 0) if 0.299 * red + 0.587 * green + 0.114 * blue > 120 else (255, 255, 255)


def _font() -> ImageFont.FreeTypeFont | ImageFont.ImageFont:
    from PIL import ImageFont

    return ImageFont.load_default(12)


def _mask(segmentation: Any, width: int, height: int) -> Mask | None:
    """Return a segmentation as a (height, width) mask, None where it is none."""
    from pycocotools import mask as coco_mask

    try:
        if isinstance(segmentation, list):
            rle = coco_mask.merge(coco_mask.frPyObjects(segmentation, height, width))
        elif list(segmentation["size"]) != [height, width]:
            return None
        elif isinstance(segmentation["counts"], list):
            rle = coco_mask.frPyObjects(segmentation, height, width)
        else:
            rle = segmentation
        mask: Mask = coco_mask.decode(rle).astype(bool)
    except Exception:  # pycocotools raises bare ones, and a report goes on without a mask
        return None
    return mask


def _data_uri(image: Image.Image) -> str:
    buffer = io.BytesIO()
    image.save(buffer, format="WEBP", quality=_QUALITY)
    return "data:image/webp;base64," + base64.b64encode(buffer.getvalue()).decode("ascii")
