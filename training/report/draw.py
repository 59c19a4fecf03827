"""Draws the pictures of the report and packs them as data URIs."""

from __future__ import annotations

import base64
import io
from dataclasses import dataclass
from typing import TYPE_CHECKING

from training.report.dataset import Picture
from training.report.overlay import draw_regions

if TYPE_CHECKING:
    from PIL import Image

BOX = (520, 360)
"""Width and height in pixels that larger pictures shrink to, and small ones never exceed."""
LEAST = 250
"""Pixels; the long side of smaller pictures grows to it, so that labels can be read."""
_QUALITY = 82


class BadPicture(Exception):
    """A picture's file cannot be decoded."""


@dataclass(frozen=True)
class Drawn:
    """Both views of a picture as data URIs."""

    truth: str
    predicted: str
    width: int
    height: int


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
    photo = fitted(photo)
    frame = (picture.width, picture.height)
    return Drawn(
        truth=_data_uri(draw_regions(photo, picture.truth, frame)),
        predicted=_data_uri(draw_regions(photo, picture.predicted, frame)),
        width=photo.width,
        height=photo.height,
    )


def fitted(photo: Image.Image) -> Image.Image:
    """Return a photo at a size to be looked at beside others."""
    shrink = min(BOX[0] / photo.width, BOX[1] / photo.height)
    scale = min(shrink, max(1.0, LEAST / max(photo.size)))
    return photo.resize((max(1, round(photo.width * scale)), max(1, round(photo.height * scale))))


def _data_uri(image: Image.Image) -> str:
    buffer = io.BytesIO()
    image.save(buffer, format="WEBP", quality=_QUALITY)
    return "data:image/webp;base64," + base64.b64encode(buffer.getvalue()).decode("ascii")
