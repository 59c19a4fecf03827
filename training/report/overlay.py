"""Draws objects over a photo: masks, boxes, names and scores."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from training.report.dataset import Region

if TYPE_CHECKING:
    import numpy as np
    from PIL import Image, ImageDraw, ImageFont

    Mask = np.ndarray[Any, np.dtype[np.bool_]]

_LEAST_LABEL = 18
"""Pixels of a region's longer side; a label on a smaller one would hide it and its neighbours."""
_FILL = 0.42
_EDGE = 2
"""Pixels."""
_FONT = 12
"""Pixels; a label is 17 high."""

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
Box = tuple[int, int, int, int]
"""Left, top, right, bottom; the last two are not part of it."""


@dataclass(frozen=True)
class _Shape:
    """What a region covers of the photo."""

    region: Region
    box: Box
    """Its own, or the one around its mask."""
    mask: Mask | None
    """Within `mask_box`; None where there is none."""
    mask_box: Box

    @property
    def area(self) -> int:
        """In pixels; of the box where there is no mask."""
        if self.mask is not None:
            return int(self.mask.sum())
        return (self.box[2] - self.box[0]) * (self.box[3] - self.box[1])


def colour_of(category_id: int) -> Colour:
    """Return a category's colour: the same in truth, prediction and every report."""
    return PALETTE[category_id % len(PALETTE)]


def draw_regions(
    photo: Image.Image, regions: Sequence[Region], frame: tuple[int, int], *, zoom: int = 1
) -> Image.Image:
    """Return a copy of a photo with regions drawn on it.

    Args:
        frame: Width and height, in pixels, of the picture that the regions' numbers belong to.
        zoom: How many times as thick as usual lines and letters are.
    """
    from PIL import ImageDraw

    drawn = photo.copy()
    shapes = [shape for one in regions if (shape := _shape(one, frame, photo.size)) is not None]
    # Small ones lie on top of large ones, labels on top of all.
    shapes.sort(key=lambda shape: -shape.area)
    pen = ImageDraw.Draw(drawn)
    for shape in shapes:
        _tint(drawn, shape, zoom)
        if shape.region.box is not None:
            left, top, right, bottom = shape.box
            pen.rectangle(
                (left, top, max(left, right - 1), max(top, bottom - 1)),
                outline=colour_of(shape.region.category_id),
                width=zoom,
            )
    for shape in shapes:
        _label(pen, shape, photo.size, zoom)
    return drawn


def _shape(region: Region, frame: tuple[int, int], size: tuple[int, int]) -> _Shape | None:
    """Return a region's place in a photo of some size; None where nothing can be drawn."""
    mask = _mask(region.segmentation, *frame)
    mask_box = None
    if mask is not None:
        mask = mask if size == frame else _resize(mask, size)
        mask_box = _box_around(mask)
    box = mask_box if region.box is None else _scaled(region.box, frame, size)
    if mask is None or mask_box is None:
        return None if box is None else _Shape(region, box, None, box)
    assert box is not None
    left, top, right, bottom = mask_box
    return _Shape(region, box, mask[top:bottom, left:right].copy(), mask_box)


def _scaled(
    box: tuple[float, float, float, float], frame: tuple[int, int], size: tuple[int, int]
) -> Box:
    x, y = size[0] / frame[0], size[1] / frame[1]
    left, top, width, height = box
    return (
        math.floor(left * x),
        math.floor(top * y),
        math.ceil((left + width) * x),
        math.ceil((top + height) * y),
    )


def _resize(mask: Mask, size: tuple[int, int]) -> Mask:
    import numpy as np
    from PIL import Image

    return np.asarray(Image.fromarray(mask).resize(size), dtype=bool)


def _box_around(mask: Mask) -> Box | None:
    """Return the box around a mask; None where it is empty."""
    import numpy as np

    rows, columns = np.flatnonzero(mask.any(axis=1)), np.flatnonzero(mask.any(axis=0))
    if not len(rows):
        return None
    return (int(columns[0]), int(rows[0]), int(columns[-1]) + 1, int(rows[-1]) + 1)


def _tint(drawn: Image.Image, shape: _Shape, zoom: int) -> None:
    """Colour a region and its outline; a crowd gets half the colour and no outline."""
    import numpy as np
    from PIL import Image

    if shape.mask is None:
        return
    strength = np.where(shape.mask, _FILL / 2 if shape.region.crowd else _FILL, 0)
    if not shape.region.crowd:
        strength[_edge(shape.mask, _EDGE * zoom)] = 1
    stencil = Image.fromarray((strength * 255).astype(np.uint8))
    drawn.paste(colour_of(shape.region.category_id), shape.mask_box, stencil)


def _edge(mask: Mask, pixels: int) -> Mask:
    """Return the region's outermost pixels."""
    import numpy as np

    inner = mask
    for _ in range(pixels):
        padded = np.pad(inner, 1)
        inner = inner & padded[:-2, 1:-1] & padded[2:, 1:-1] & padded[1:-1, :-2] & padded[1:-1, 2:]
    return mask & ~inner


def _label(pen: ImageDraw.ImageDraw, shape: _Shape, size: tuple[int, int], zoom: int) -> None:
    """Write category and score above the region, or inside where there is no room."""
    left, top, right, bottom = shape.box
    if max(right - left, bottom - top) <= _LEAST_LABEL:
        return
    region, font = shape.region, _font(zoom)
    text = region.category[:24] + ("" if region.score is None else f" {region.score:.2f}")
    width, height = math.ceil(pen.textlength(text, font=font)) + 8 * zoom, 17 * zoom
    left = min(max(0, left), max(0, size[0] - width))
    top = max(0, top - height)
    colour = colour_of(region.category_id)
    pen.rounded_rectangle((left, top, left + width, top + height), radius=3 * zoom, fill=colour)
    pen.text((left + 4 * zoom, top + 2 * zoom), text, fill=_ink(colour), font=font)


def _ink(colour: Colour) -> Colour:
    """Return black or white, whichever reads better on a colour."""
    red, green, blue = colour
    return (0, 0, 0) if 0.299 * red + 0.587 * green + 0.114 * blue > 120 else (255, 255, 255)


def _font(zoom: int) -> ImageFont.FreeTypeFont | ImageFont.ImageFont:
    from PIL import ImageFont

    return ImageFont.load_default(_FONT * zoom)


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
