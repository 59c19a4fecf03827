"""Draw a picture with its annotations, the faulty ones so that they are seen."""

from __future__ import annotations

import base64
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from io import BytesIO
from typing import TYPE_CHECKING, Any

from training.data.annotation import Frame, is_polygon, problems_of_annotation
from training.data.exhibits import Exhibit
from training.data.picture_file import OPENED_AS, as_opened
from training.data.picture_mending import to_eight_bits

if TYPE_CHECKING:
    from PIL import Image, ImageDraw

BOX = (480, 340)
"""Width and height in pixels that pictures shrink to."""
LEAST = 220
"""Pixels; the longer side of smaller pictures grows to it."""
MARGIN = 28
"""Pixels around the picture, in which boxes that leave it are seen."""

_GROUND = (120, 124, 132)
_SOUND = (66, 135, 245)
_FAULTY = (226, 42, 34)
_FILL_OPACITY = 90
_QUALITY = 80


class NotDrawable(Exception):
    """The picture cannot be decoded."""


@dataclass(frozen=True)
class Drawing:
    """A picture as a data URI, with its size in pixels."""

    uri: str
    width: int
    height: int


def draw_exhibit(exhibit: Exhibit) -> Drawing:
    """Return a picture with its masks and boxes: blue the sound ones, red the faulty.

    Raises:
        NotDrawable: There is no picture to draw on.
    """
    from PIL import Image, ImageDraw

    photo, scale = _read_small(exhibit)
    canvas = Image.new("RGB", (photo.width + 2 * MARGIN, photo.height + 2 * MARGIN), _GROUND)
    canvas.paste(photo, (MARGIN, MARGIN))
    pen = ImageDraw.Draw(canvas, "RGBA")
    for drawn, colour, width in ((exhibit.sound, _SOUND, 1), (exhibit.faulty, _FAULTY, 3)):
        for annotation in drawn:
            _draw_mask(canvas, annotation.get("segmentation"), exhibit.told, scale, colour)
            _draw_box(pen, annotation.get("bbox"), scale, colour, width)
    buffer = BytesIO()
    canvas.save(buffer, format="WEBP", quality=_QUALITY)
    text = base64.b64encode(buffer.getvalue()).decode("ascii")
    return Drawing(f"data:image/webp;base64,{text}", canvas.width, canvas.height)


def _read_small(exhibit: Exhibit) -> tuple[Image.Image, tuple[float, float]]:
    """Return the picture at the size of the page, and what that does to x and y."""
    from PIL import Image

    if exhibit.file is None:
        raise NotDrawable
    try:
        with Image.open(as_opened(exhibit.file), formats=OPENED_AS) as opened:
            stored = opened.size
            # Four times as large as needed: decoding to that is quick, and looks the same.
            opened.draft("RGB", (4 * BOX[0], 4 * BOX[1]))
            photo = to_eight_bits(opened).convert("RGB")
    except Exception as error:  # Decoders raise many kinds for broken files.
        raise NotDrawable from error
    shrink = min(BOX[0] / stored[0], BOX[1] / stored[1])
    factor = min(shrink, max(1.0, LEAST / max(stored)))
    size = (max(1, round(stored[0] * factor)), max(1, round(stored[1] * factor)))
    return photo.resize(size), (size[0] / stored[0], size[1] / stored[1])


def _draw_box(
    pen: ImageDraw.ImageDraw,
    box: Any,
    scale: tuple[float, float],
    colour: tuple[int, int, int],
    width: int,
) -> None:
    """Draw a box as far as it can be seen; one without area is a cross."""
    if not _is_four_numbers(box):
        return
    left, top = _on_canvas(box[0], box[1], scale)
    right, bottom = _on_canvas(box[0] + box[2], box[1] + box[3], scale)
    if right - left < 1 or bottom - top < 1:
        pen.line((left - 6, top, left + 6, top), fill=colour, width=width)
        pen.line((left, top - 6, left, top + 6), fill=colour, width=width)
        return
    pen.rectangle((left, top, right, bottom), outline=colour, width=width)


def _is_four_numbers(box: Any) -> bool:
    return (
        isinstance(box, list)
        and len(box) == 4
        and all(type(side) in {int, float} and abs(side) < 1e6 for side in box)
    )


def _on_canvas(x: float, y: float, scale: tuple[float, float]) -> tuple[float, float]:
    return MARGIN + x * scale[0], MARGIN + y * scale[1]


def _draw_mask(
    canvas: Image.Image,
    segmentation: Any,
    told: Frame,
    scale: tuple[float, float],
    colour: tuple[int, int, int],
) -> None:
    from PIL import ImageDraw

    if isinstance(segmentation, list):
        pen = ImageDraw.Draw(canvas, "RGBA")
        for polygon in segmentation:
            if is_polygon(polygon, told):
                points = list(_points(polygon, scale))
                pen.polygon(points, fill=(*colour, _FILL_OPACITY), outline=colour)
    elif isinstance(segmentation, dict):
        stencil = _stencil_of_rle(segmentation, told, scale)
        if stencil is not None:
            canvas.paste(colour, (MARGIN, MARGIN), stencil)


def _points(polygon: list[float], scale: tuple[float, float]) -> Iterator[tuple[float, float]]:
    for x, y in zip(polygon[::2], polygon[1::2], strict=True):
        yield _on_canvas(x, y, scale)


def _stencil_of_rle(
    rle: Mapping[str, Any], told: Frame, scale: tuple[float, float]
) -> Image.Image | None:
    probe = {"image_id": 1, "category_id": 1, "bbox": [0, 0, *told], "area": 1, "iscrowd": 1}
    if problems_of_annotation({**probe, "segmentation": rle}, {1: told}, {1}):
        return None
    from PIL import Image
    from pycocotools import mask as coco_mask

    packed = rle if isinstance(rle["counts"], str) else coco_mask.frPyObjects(rle, *told[::-1])
    size = (max(1, round(told[0] * scale[0])), max(1, round(told[1] * scale[1])))
    return Image.fromarray(coco_mask.decode(packed) * _FILL_OPACITY).resize(size)
