"""Judge one annotation: a pure function, the same for the check and for a trainer that skips."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from typing import Any

from training.data.rules import (
    ANNOTATION_INCOMPLETE,
    ANNOTATION_MALFORMED,
    BOX_EMPTY,
    BOX_OUTSIDE,
    CATEGORY_UNKNOWN,
    IMAGE_UNKNOWN,
    POLYGON_LEFT_OUT,
    POLYGON_MALFORMED,
    RLE_MALFORMED,
    SEGMENTATION_EMPTY,
    Rule,
)

Frame = tuple[int, int]
"""Width and height of a picture."""

OVERFLOW_PX = 1
"""COCO's own boxes leave the picture by less than this."""

Problem = tuple[Rule, str]
"""The rule that is broken, and the values that break it."""

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
        problems.append((ANNOTATION_MALFORMED, f"image_id {image_id!r}"))
    elif (frame := frames.get(image_id)) is None:
        problems.append((IMAGE_UNKNOWN, f"image_id {image_id}"))
    if type(category_id) is not int:
        problems.append((ANNOTATION_MALFORMED, f"category_id {category_id!r}"))
    elif category_id not in category_ids:
        problems.append((CATEGORY_UNKNOWN, f"category_id {category_id}"))
    problems += _problems_of_flags(annotation)
    if box_problem := _box_problem(annotation.get("bbox"), frame):
        problems.append(box_problem)
    if segmentation_problem := _segmentation_problem(annotation.get("segmentation"), frame):
        problems.append(segmentation_problem)
    return problems


def _problems_of_flags(annotation: Mapping[str, Any]) -> list[Problem]:
    problems: list[Problem] = []
    if "iscrowd" not in annotation or "area" not in annotation:
        problems.append((ANNOTATION_INCOMPLETE, f"has {_short(list(annotation))}"))
    crowd, area = annotation.get("iscrowd", 0), annotation.get("area", 0)
    if type(crowd) is not int or crowd not in {0, 1}:
        problems.append((ANNOTATION_MALFORMED, f"iscrowd {_short(crowd)}"))
    if not _all_finite([area]) or area < 0:
        problems.append((ANNOTATION_MALFORMED, f"area {_short(area)}"))
    return problems


def _box_problem(box: Any, frame: Frame | None) -> Problem | None:
    if type(box) is not list or len(box) != 4 or not _all_finite(box):
        return ANNOTATION_MALFORMED, f"bbox {_short(box)}"
    x, y, width, height = box
    # A width that is lost beside x leaves no area either.
    if x + width <= x or y + height <= y:
        return BOX_EMPTY, f"bbox {box}"
    if frame and (
        x < -OVERFLOW_PX
        or y < -OVERFLOW_PX
        or x + width > frame[0] + OVERFLOW_PX
        or y + height > frame[1] + OVERFLOW_PX
    ):
        return BOX_OUTSIDE, f"bbox {box} in a picture of {frame[0]} x {frame[1]}"
    return None


def _segmentation_problem(segmentation: Any, frame: Frame | None) -> Problem | None:
    if not segmentation:
        return SEGMENTATION_EMPTY, f"segmentation {_short(segmentation)}"
    if type(segmentation) is list:
        return _polygon_problem(segmentation)
    if type(segmentation) is dict:
        return _rle_problem(segmentation, frame)
    return SEGMENTATION_EMPTY, f"segmentation {_short(segmentation)}"


def _polygon_problem(polygons: list[Any]) -> Problem | None:
    bad = [number for number, polygon in enumerate(polygons) if not _is_polygon(polygon)]
    if not bad:
        return None
    rule = POLYGON_MALFORMED if len(bad) == len(polygons) else POLYGON_LEFT_OUT
    return rule, f"segmentation[{bad[0]}] {_short(polygons[bad[0]])}"


def _is_polygon(polygon: Any) -> bool:
    return (
        type(polygon) is list
        and len(polygon) >= 6
        and len(polygon) % 2 == 0
        and _all_finite(polygon)
    )


def _rle_problem(rle: Mapping[str, Any], frame: Frame | None) -> Problem | None:
    size, counts = rle.get("size"), rle.get("counts")
    if type(size) is not list or len(size) != 2 or {*map(type, size)} != {int}:
        return RLE_MALFORMED, f"size {_short(size)}"
    if frame and size != [frame[1], frame[0]]:
        return RLE_MALFORMED, f"size {_short(size)}, picture {[frame[1], frame[0]]}"
    if type(counts) is str:
        counts = _decode_counts(counts)
    if type(counts) is not list or {*map(type, counts)} != {int} or min(counts) < 0:
        return RLE_MALFORMED, f"counts {_short(rle.get('counts'))}"
    if (total := sum(counts)) != size[0] * size[1]:
        return RLE_MALFORMED, f"counts add up to {_short(total)}, not {size[0]} x {size[1]}"
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


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."
