"""Judge one annotation: a pure function, the same for the check and for a trainer that skips."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from typing import Any

from training.data.rules import (
    ANNOTATION_INCOMPLETE,
    ANNOTATION_MALFORMED,
    BOX_EMPTY,
    BOX_OFF,
    BOX_OUTSIDE,
    CATEGORY_UNKNOWN,
    IMAGE_UNKNOWN,
    POLYGON_LEFT_OUT,
    POLYGON_MALFORMED,
    RLE_MALFORMED,
    RLE_OF_OBJECT,
    SEGMENTATION_EMPTY,
    Rule,
)

Frame = tuple[int, int]
"""Width and height of a picture."""

OVERFLOW_PX = 1
"""COCO's own boxes leave the picture by less than this."""

Problem = tuple[Rule, str]
"""The rule that is broken, and the values that break it."""

_LEAST_OF_SIDE = 2**-20
"""Of the picture's longer side: a narrower box may lose its width in float32, once mirrored."""

_LARGEST_SHIFT = 60
"""Bits: no picture has a run of more pixels."""

_LARGEST_SIDE = 1_000_000
"""Pixels."""

_NUMBERS = frozenset({int, float})
"""bool is none: `true` as a coordinate is a mistake."""


def problems_of_annotation(
    annotation: Mapping[str, Any], frames: Mapping[int, Frame], category_ids: Collection[int]
) -> list[Problem]:
    """Return what is wrong with an annotation of a COCO file; usually nothing.

    Args:
        annotation: As JSON has it, with any content.
        frames: Image id to the picture's size.
        category_ids: The ids that the file declares.
    """
    problems: list[Problem] = []
    image_id, category_id = annotation.get("image_id"), annotation.get("category_id")
    frame = None
    if type(image_id) is not int:
        problems.append((ANNOTATION_MALFORMED, f"image_id {shorten(image_id)}"))
    elif (frame := frames.get(image_id)) is None:
        problems.append((IMAGE_UNKNOWN, f"image_id {shorten(image_id)}"))
    if type(category_id) is not int:
        problems.append((ANNOTATION_MALFORMED, f"category_id {shorten(category_id)}"))
    elif category_id not in category_ids:
        problems.append((CATEGORY_UNKNOWN, f"category_id {shorten(category_id)}"))
    problems += _problems_of_flags(annotation)
    if box_problem := _box_problem(annotation.get("bbox"), frame):
        problems.append(box_problem)
    segmentation = annotation.get("segmentation")
    if segmentation_problem := _segmentation_problem(segmentation, frame):
        problems.append(segmentation_problem)
    elif type(segmentation) is dict and not annotation.get("iscrowd"):
        problems.append((RLE_OF_OBJECT, "iscrowd 0"))
    return problems


def _problems_of_flags(annotation: Mapping[str, Any]) -> list[Problem]:
    problems: list[Problem] = []
    if "iscrowd" not in annotation or "area" not in annotation:
        problems.append((ANNOTATION_INCOMPLETE, f"has {shorten(list(annotation))}"))
    crowd, area = annotation.get("iscrowd", 0), annotation.get("area", 0)
    if type(crowd) is not int or crowd not in {0, 1}:
        problems.append((ANNOTATION_MALFORMED, f"iscrowd {shorten(crowd)}"))
    if not _all_finite([area]) or area < 0:
        problems.append((ANNOTATION_MALFORMED, f"area {shorten(area)}"))
    return problems


def _box_problem(box: Any, frame: Frame | None) -> Problem | None:
    if type(box) is not list or len(box) != 4 or not _all_finite(box):
        return ANNOTATION_MALFORMED, f"bbox {shorten(box)}"
    x, y, width, height = box
    right, bottom = x + width, y + height
    least = max(frame) * _LEAST_OF_SIDE if frame else 0
    # A width that is lost beside x leaves no area either.
    if width <= least or height <= least or right <= x or bottom <= y:
        return BOX_EMPTY, f"bbox {box}"
    if not frame:
        return None
    detail = f"bbox {box} in a picture of {frame[0]} x {frame[1]}"
    if min(right, frame[0]) - max(x, 0) <= least or min(bottom, frame[1]) - max(y, 0) <= least:
        return BOX_OFF, detail
    if (
        x < -OVERFLOW_PX
        or y < -OVERFLOW_PX
        or right > frame[0] + OVERFLOW_PX
        or bottom > frame[1] + OVERFLOW_PX
    ):
        return BOX_OUTSIDE, detail
    return None


def _segmentation_problem(segmentation: Any, frame: Frame | None) -> Problem | None:
    if not segmentation:
        return SEGMENTATION_EMPTY, f"segmentation {shorten(segmentation)}"
    if type(segmentation) is list:
        return _polygon_problem(segmentation, frame)
    if type(segmentation) is dict:
        return _rle_problem(segmentation, frame)
    return SEGMENTATION_EMPTY, f"segmentation {shorten(segmentation)}"


def _polygon_problem(polygons: list[Any], frame: Frame | None) -> Problem | None:
    bad = [number for number, polygon in enumerate(polygons) if not is_polygon(polygon, frame)]
    if not bad:
        return None
    rule = POLYGON_MALFORMED if len(bad) == len(polygons) else POLYGON_LEFT_OUT
    return rule, f"segmentation[{bad[0]}] {shorten(polygons[bad[0]])}"


def is_polygon(polygon: Any, frame: Frame | None) -> bool:
    """Return whether a polygon can be drawn.

    One that reaches further out than the picture is large is none: pycocotools walks along every
    pixel of its edges.
    """
    if type(polygon) is not list or len(polygon) < 6 or len(polygon) % 2:
        return False
    if not _all_finite(polygon):
        return False
    side = max(frame) if frame else _LARGEST_SIDE
    return bool(min(polygon) >= -side and max(polygon) <= 2 * side)


def _rle_problem(rle: Mapping[str, Any], frame: Frame | None) -> Problem | None:
    size, counts = rle.get("size"), rle.get("counts")
    if type(size) is not list or len(size) != 2 or {*map(type, size)} != {int}:
        return RLE_MALFORMED, f"size {shorten(size)}"
    if frame and size != [frame[1], frame[0]]:
        return RLE_MALFORMED, f"size {shorten(size)}, picture {[frame[1], frame[0]]}"
    if type(counts) is str:
        counts = _decode_counts(counts)
    if type(counts) is not list or {*map(type, counts)} != {int} or min(counts) < 0:
        return RLE_MALFORMED, f"counts {shorten(rle.get('counts'))}"
    if (total := sum(counts)) != size[0] * size[1]:
        return RLE_MALFORMED, f"counts add up to {shorten(total)}, not {size[0]} x {size[1]}"
    return None


def _decode_counts(text: str) -> list[int] | None:
    """Return the run lengths of a compressed RLE, or None where the text ends inside a number.

    Five bits a character from "0" on, the lowest first; bit 5 says that more follow, the last bit 4
    is the sign; from the fourth on, a count is the difference to the one before the last (cocoapi,
    common/maskApi.c, rleFrString).
    """
    counts: list[int] = []
    value = shift = 0
    for character in text:
        bits = ord(character) - 48
        if not 0 <= bits < 64:
            return None
        if shift > _LARGEST_SHIFT:
            return None
        value |= (bits & 0x1F) << shift
        shift += 5
        if bits & 0x20:
            continue
        if bits & 0x10:
            value -= 1 << shift
        counts.append(value + counts[-2] if len(counts) > 2 else value)
        value = shift = 0
    return None if shift else counts


def _all_finite(values: list[Any]) -> bool:
    """Return whether all are numbers, none of them infinite or NaN."""
    if not {*map(type, values)} <= _NUMBERS:
        return False
    try:
        # An infinity or a NaN anywhere stays one in the sum of squares or of the values.
        return math.isfinite(math.fsum(values))
    except (OverflowError, ValueError):
        return False


def shorten(value: Any) -> str:
    """Return a value as a message can show it, whatever it is."""
    try:
        text = repr(value)
    except ValueError:
        # Python writes no number of more than 4,300 digits.
        return f"a {type(value).__name__} with more digits than can be shown"
    return text if len(text) <= 60 else f"{text[:57]}..."
