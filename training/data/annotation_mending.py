"""Mend one annotation: what can be told for sure from the rest of it; the rest is left to drop."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from training.data.annotation import Frame, is_polygon, problems_of_annotation
from training.data.outline import polygons
from training.data.rules import Rule

Annotation = dict[str, Any]


@dataclass(frozen=True)
class Choices:
    """What only the user can know of a set.

    Attributes:
        boxes_as_masks: An object without a mask fills its box; otherwise it is dropped.
        crowds_as_objects: No annotation is a crowd, whatever iscrowd says.
    """

    boxes_as_masks: bool = False
    crowds_as_objects: bool = False


@dataclass(frozen=True)
class Mended:
    """An annotation after mending.

    Attributes:
        annotation: None where it must be dropped.
        notes: What was changed, or why it is dropped.
    """

    annotation: Annotation | None
    notes: tuple[str, ...]


def whole_number(value: Any) -> int | None:
    """Return the whole number that a value of JSON stands for: 7, 7.0 or "7"; None for others."""
    number = _number(value)
    if number is None or number != math.floor(number) or abs(number) >= 2**63:
        return None
    return int(number)


def mend_annotation(annotation: Mapping[str, Any], frame: Frame, choices: Choices) -> Mended:
    """Return an annotation as every trainer takes it.

    Args:
        annotation: With image_id and category_id that are known; anything else may be wrong.
        frame: The size of its picture.
        choices: What the user said of the set.
    """
    mended = dict(annotation)
    notes = [
        *_mend_crowd(mended, choices),
        *_mend_mask(mended, frame, choices),
        *_mend_box(mended, frame),
        *_mend_area(mended, frame),
    ]
    faults = list(_faults_left(mended, frame))
    if faults:
        return Mended(None, (faults[0].alone,))
    return Mended(mended, tuple(notes))


def _faults_left(mended: Annotation, frame: Frame) -> Iterator[Rule]:
    image_id, category_id = mended["image_id"], mended["category_id"]
    for rule, _ in problems_of_annotation(mended, {image_id: frame}, {category_id}):
        if rule.keeps_out:
            yield rule


def _mend_crowd(mended: Annotation, choices: Choices) -> Iterator[str]:
    told = mended.get("iscrowd")
    crowd = 1 if told is True or whole_number(told) == 1 else 0
    if crowd and choices.crowds_as_objects:
        crowd = 0
        yield "made an object of a crowd"
    elif type(told) is not int or told != crowd:
        yield "set iscrowd" if told is None else "corrected iscrowd"
    mended["iscrowd"] = crowd


def _mend_mask(mended: Annotation, frame: Frame, choices: Choices) -> Iterator[str]:
    told = mended.get("segmentation")
    mask: Any = None
    if isinstance(told, list):
        formed = _as_polygons(told)
        mask = [polygon for polygon in formed if is_polygon(polygon, frame)]
        if mask and formed != told:
            yield "corrected the form of the polygons"
        if mask and len(mask) < len(formed):
            yield "left out polygons that cannot be drawn"
    elif isinstance(told, dict):
        mask = told
        if not mended["iscrowd"] and _is_sound_rle(told, frame):
            mask = polygons(_decode(told))
            yield "turned the RLE mask of an object into polygons"
    if not mask and choices.boxes_as_masks:
        box = _cut_box(_numbers(mended.get("bbox")), frame)
        if box is not None:
            mask = [_outline_of(box)]
            yield "took its box as its mask"
    mended["segmentation"] = mask


def _as_polygons(told: list[Any]) -> list[list[float]]:
    """Return polygons as COCO writes them: some programs nest them one level less, or more."""
    if told and all(_number(value) is not None for value in told):
        told = [told]
    found: list[list[float]] = []
    for polygon in told:
        numbers = _numbers(_flattened(polygon))
        if numbers is not None:
            found.append(numbers)
    return found


def _flattened(polygon: Any) -> Any:
    if (
        isinstance(polygon, list)
        and polygon
        and all(isinstance(point, list) and len(point) == 2 for point in polygon)
    ):
        return [value for point in polygon for value in point]
    return polygon


def _mend_box(mended: Annotation, frame: Frame) -> Iterator[str]:
    told = mended.get("bbox")
    numbers = _numbers(told)
    cut = None if numbers is None else _cut_box(numbers, frame)
    if cut is None:
        mask_box = _box_of_mask(mended["segmentation"], frame)
        if mask_box is not None:
            mended["bbox"] = mask_box
            yield "took the box of its mask"
        return
    if _leaves(numbers, frame):
        mended["bbox"] = cut
        yield "cut the box at the picture's border"
    elif isinstance(told, list) and not {*map(type, told)} <= {int, float}:
        mended["bbox"] = numbers
        yield "corrected the form of the box"


def _leaves(box: list[float] | None, frame: Frame) -> bool:
    """Return whether a box leaves the picture by more than COCO's own do."""
    if box is None:
        return False
    x, y, width, height = box
    return min(x, y) < -1 or x + width > frame[0] + 1 or y + height > frame[1] + 1


def _mend_area(mended: Annotation, frame: Frame) -> Iterator[str]:
    told = mended.get("area")
    area = _number(told)
    if area is not None and area >= 0:
        if type(told) not in {int, float}:
            mended["area"] = area
            yield "corrected the form of the area"
        return
    mended["area"] = _area_of_mask(mended, frame)
    yield "computed the area"


def _area_of_mask(mended: Annotation, frame: Frame) -> float:
    """Return the number of pixels of a mask; 0 where there is none that can be drawn."""
    mask = mended["segmentation"]
    if not mask or (isinstance(mask, dict) and not _is_sound_rle(mask, frame)):
        return 0.0
    from pycocotools import mask as coco_mask

    return float(coco_mask.area(_packed(mask, frame)))


def _box_of_mask(mask: Any, frame: Frame) -> list[float] | None:
    """Return x, y, width and height of a mask inside the picture; None where there is none."""
    if not mask:
        return None
    if isinstance(mask, dict):
        if not _is_sound_rle(mask, frame):
            return None
        from pycocotools import mask as coco_mask

        return _cut_box([float(side) for side in coco_mask.toBbox(_packed(mask, frame))], frame)
    columns = [value for polygon in mask for value in polygon[::2]]
    rows = [value for polygon in mask for value in polygon[1::2]]
    left, top = min(columns), min(rows)
    return _cut_box([left, top, max(columns) - left, max(rows) - top], frame)


def _is_sound_rle(rle: Mapping[str, Any], frame: Frame) -> bool:
    # The one judge of RLE, asked of an annotation in which nothing else can be wrong.
    probe = {"image_id": 1, "category_id": 1, "bbox": [0, 0, *frame], "area": 1, "iscrowd": 1}
    return not problems_of_annotation({**probe, "segmentation": rle}, {1: frame}, {1})


def _packed(mask: Any, frame: Frame) -> Any:
    from pycocotools import mask as coco_mask

    width, height = frame
    if isinstance(mask, list):
        return coco_mask.merge(coco_mask.frPyObjects(mask, height, width))
    return mask if isinstance(mask["counts"], str) else coco_mask.frPyObjects(mask, height, width)


def _decode(rle: Mapping[str, Any]) -> Any:
    from pycocotools import mask as coco_mask

    height, width = rle["size"]
    return coco_mask.decode(_packed(rle, (width, height))).astype(bool)


def _cut_box(box: list[float] | None, frame: Frame) -> list[float] | None:
    """Return a box's part inside the picture; None where it has no area there."""
    if box is None or len(box) != 4:
        return None
    x, y, width, height = box
    left, top = max(x, 0), max(y, 0)
    right, bottom = min(x + width, frame[0]), min(y + height, frame[1])
    if width <= 0 or height <= 0 or right <= left or bottom <= top:
        return None
    return [left, top, right - left, bottom - top]


def _outline_of(box: list[float]) -> list[float]:
    x, y, width, height = box
    return [x, y, x + width, y, x + width, y + height, x, y + height]


def _numbers(values: Any) -> list[float] | None:
    """Return a list of JSON as numbers; None where it is no list, or has something else."""
    if not isinstance(values, list):
        return None
    numbers = [_number(value) for value in values]
    return None if None in numbers else [number for number in numbers if number is not None]


def _number(value: Any) -> float | int | None:
    """Return the finite number that a value stands for: a number or the text of one."""
    if type(value) is str and len(value) <= 40:
        try:
            value = int(value)
        except ValueError:
            try:
                value = float(value)
            except ValueError:
                return None
    if type(value) not in {int, float}:
        return None
    try:
        return value if math.isfinite(value) else None
    except OverflowError:
        return None
