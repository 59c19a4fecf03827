"""Judge the entries of an annotation file: pictures, categories and annotations."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from training.data.annotation import Frame, Problem, problems_of_annotation, shorten
from training.data.census import Census
from training.data.rules import (
    ANNOTATION_DUPLICATE_ID,
    ANNOTATION_MALFORMED,
    CATEGORY_DUPLICATE_ID,
    CATEGORY_MALFORMED,
    CATEGORY_NAME_TWICE,
    IMAGE_DUPLICATE_ID,
    IMAGE_FILE_TWICE,
    IMAGE_MALFORMED,
)
from training.data.tally import Tally

LARGEST_ID = 2**63 - 1
"""What numpy and other programs can hold."""
LARGEST_SIDE_PX = 2**31 - 1


@dataclass(frozen=True)
class Images:
    """The sound entries of images."""

    frames: Mapping[int, Frame]
    """Image id to size."""
    names: Mapping[int, str]
    """Image id to file_name."""
    pictures: Mapping[str, Frame]
    """file_name to size."""


def judge_images(images: Sequence[Any], tally: Tally) -> Images:
    """Return the entries that can be used; the first one of those with the same id."""
    frames: dict[int, Frame] = {}
    names: dict[int, str] = {}
    pictures: dict[str, Frame] = {}
    first_at: dict[int, int] = {}
    named_at: dict[str, int] = {}
    for index, image in enumerate(images):
        if not is_image(image):
            tally.add(IMAGE_MALFORMED, f"images[{index}] {_shown_image(image)}")
            continue
        image_id, name = image["id"], image["file_name"]
        if image_id in first_at:
            tally.add(
                IMAGE_DUPLICATE_ID, f"id {image_id} at images[{first_at[image_id]}] and [{index}]"
            )
            continue
        if name in named_at:
            places = f"at images[{named_at[name]}] and [{index}]"
            tally.add(IMAGE_FILE_TWICE, f"{shorten(name)} {places}", name)
        first_at[image_id], named_at[name] = index, index
        frames[image_id] = pictures[name] = (image["width"], image["height"])
        names[image_id] = name
    return Images(frames, names, pictures)


def is_image(image: Any) -> bool:
    """Return whether an entry of images has what every trainer needs."""
    if not isinstance(image, dict):
        return False
    name = image.get("file_name")
    return (
        is_id(image.get("id"))
        and type(name) is str
        and name != ""
        and _is_side(image.get("width"))
        and _is_side(image.get("height"))
    )


def is_id(value: Any) -> bool:
    return type(value) is int and -LARGEST_ID <= value <= LARGEST_ID


def _is_side(value: Any) -> bool:
    return type(value) is int and 1 <= value <= LARGEST_SIDE_PX


def _shown_image(image: Any) -> str:
    if not isinstance(image, dict):
        return shorten(image)
    keys = ("id", "file_name", "width", "height")
    return ", ".join(f"{key} {shorten(image.get(key))}" for key in keys)


def judge_categories(categories: Sequence[Any], tally: Tally) -> Mapping[int, str]:
    """Return id to name of the categories that can be used, in the file's order."""
    names: dict[int, str] = {}
    ids_of_names: dict[str, int] = {}
    for index, category in enumerate(categories):
        if not is_category(category):
            tally.add(CATEGORY_MALFORMED, f"categories[{index}] {shorten(category)}")
            continue
        category_id, name = category["id"], category["name"]
        if category_id in names:
            tally.add(CATEGORY_DUPLICATE_ID, f"id {category_id} again at categories[{index}]")
            continue
        if name in ids_of_names:
            ids = f"ids {ids_of_names[name]} and {category_id}"
            tally.add(CATEGORY_NAME_TWICE, f"{shorten(name)}, {ids}")
        ids_of_names.setdefault(name, category_id)
        names[category_id] = name
    return names


def is_category(category: Any) -> bool:
    """Return whether an entry of categories has an id and a name."""
    return (
        isinstance(category, dict)
        and is_id(category.get("id"))
        and type(category.get("name")) is str
    )


def groups_of(categories: Sequence[Any]) -> Mapping[int, str]:
    """Return id and name of the categories that others name as their supercategory.

    Roboflow puts such a one, without objects, before all others:
    https://github.com/roboflow/rf-detr/pull/1303
    """
    sound = [category for category in categories if is_category(category)]
    # COCO's own has the group person, of which the one category is person.
    groups = {
        parent
        for category in sound
        if type(parent := category.get("supercategory")) is str and parent != category["name"]
    }
    return {category["id"]: category["name"] for category in sound if category["name"] in groups}


def judge_annotations(
    annotations: Sequence[Any], images: Images, category_ids: frozenset[int], tally: Tally
) -> Census:
    """Judge each annotation, and count the objects that a trainer can learn from."""
    census = Census()
    first_at: dict[int, int] = {}
    for index, annotation in enumerate(annotations):
        if not isinstance(annotation, dict):
            tally.add(ANNOTATION_MALFORMED, f"annotations[{index}] is {shorten(annotation)}")
            continue
        problems = problems_of_annotation(annotation, images.frames, category_ids)
        if (problem := _id_problem(index, annotation, first_at)) is not None:
            problems.append(problem)
        if problems:
            picture = _picture_of(annotation, images.names)
            for rule, detail in problems:
                tally.add(rule, _place(index, annotation, detail), picture)
        if not any(rule.keeps_out for rule, _ in problems):
            census.count(annotation)
    return census


def _id_problem(
    index: int, annotation: Mapping[str, Any], first_at: dict[int, int]
) -> Problem | None:
    annotation_id = annotation.get("id")
    if not is_id(annotation_id):
        return ANNOTATION_MALFORMED, f"id {shorten(annotation_id)}"
    assert isinstance(annotation_id, int)
    first = first_at.setdefault(annotation_id, index)
    if first != index:
        return ANNOTATION_DUPLICATE_ID, f"has the id of annotations[{first}]"
    return None


def _picture_of(annotation: Mapping[str, Any], names: Mapping[int, str]) -> str | None:
    image_id = annotation.get("image_id")
    return names.get(image_id) if type(image_id) is int else None


def _place(index: int, annotation: Mapping[str, Any], detail: str) -> str:
    ids = f"id {shorten(annotation.get('id'))}, image {shorten(annotation.get('image_id'))}"
    return f"annotations[{index}] ({ids}) {detail}"
