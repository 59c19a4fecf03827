"""Check one COCO set: annotations and pictures, each kind of fault as one finding."""

from __future__ import annotations

import gc
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from pydantic_core import from_json

from training.data.annotation import Frame, problems_of_annotation
from training.data.pictures import check_pictures
from training.data.rules import (
    ANNOTATION_DUPLICATE_ID,
    ANNOTATION_MALFORMED,
    CATEGORY_DUPLICATE_ID,
    CATEGORY_MALFORMED,
    IMAGE_DUPLICATE_ID,
    IMAGE_MALFORMED,
    Tally,
)
from training.layout import TrainChannel
from training.preflight.finding import Finding

BadAnnotations = Literal["stop", "skip"]

_KEYS = ("images", "annotations", "categories")


@dataclass(frozen=True)
class _Images:
    frames: dict[int, Frame]
    """Image id to size."""
    pictures: dict[str, Frame]
    """file_name to size."""


def check_dataset(
    channel: TrainChannel, splits: Sequence[str], *, bad_annotations: BadAnnotations = "stop"
) -> Iterator[Finding]:
    """Yield what is wrong with the splits of a data set.

    Pictures are opened for their header only: a file that is cut off after it is not found here.

    Args:
        channel: Where the set lies.
        splits: For example train2017 and val2017.
        bad_annotations: What the trainer does with an annotation that it cannot use: `stop` makes
            those errors, `skip` warnings.
    """
    for split in splits:
        yield from _check_split(channel, split, bad_annotations)


def _check_split(
    channel: TrainChannel, split: str, bad_annotations: BadAnnotations
) -> Iterator[Finding]:
    path = channel.annotations(split)
    with _no_garbage_collection():
        findings, pictures = _check_annotation_file(path, bad_annotations)
    yield from findings
    if pictures:
        yield from _check_folder(channel.images(split), pictures)


def _check_annotation_file(
    path: Path, bad_annotations: BadAnnotations
) -> tuple[list[Finding], dict[str, Frame]]:
    """Return the findings, and the pictures that the file names with the sizes it gives them."""
    document = _read_document(path)
    if isinstance(document, Finding):
        return [document], {}
    tally = Tally(str(path), skip_bad_annotations=bad_annotations == "skip")
    images = _check_images(document["images"], tally)
    category_ids = _check_categories(document["categories"], tally)
    usable = _check_annotations(document["annotations"], images.frames, category_ids, tally)
    return [*tally.findings(), *_check_not_empty(path, document, usable)], images.pictures


def _read_document(path: Path) -> dict[str, Any] | Finding:
    """Return a COCO document whose three lists are lists, or the finding that it is none."""
    try:
        # Three times as fast as the standard library's, which takes half a minute for COCO.
        document = from_json(path.read_bytes(), allow_inf_nan=True)
    except FileNotFoundError:
        return _error(
            "annotations-missing",
            path,
            "there is no such annotation file. A data set has annotations/instances_<split>.json "
            "and a folder <split> of pictures",
        )
    except OSError as error:
        return _error("annotations-unreadable", path, f"cannot be read ({error.strerror})")
    except ValueError as error:
        return _error("annotations-not-json", path, f"is not JSON ({error}). Copy it again")
    if not isinstance(document, dict):
        kind = type(document).__name__
        return _error(
            "annotations-not-coco", path, f"is not COCO's format: it is a {kind}, not an object"
        )
    wrong = [key for key in _KEYS if not isinstance(document.get(key), list)]
    if wrong:
        return _error(
            "annotations-not-coco",
            path,
            f"is not COCO's format: {' and '.join(wrong)} must be a list. "
            f"It has the keys {', '.join(map(repr, list(document)[:8])) or 'none'}",
        )
    return document


@contextmanager
def _no_garbage_collection() -> Iterator[None]:
    """Keep the collector from walking, over and over, millions of objects that are all alive."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


def _check_images(images: list[Any], tally: Tally) -> _Images:
    frames: dict[int, Frame] = {}
    pictures: dict[str, Frame] = {}
    first_at: dict[int, int] = {}
    for index, image in enumerate(images):
        fields = image if isinstance(image, dict) else {}
        image_id, name = fields.get("id"), fields.get("file_name")
        width, height = fields.get("width"), fields.get("height")
        if (
            type(image_id) is not int
            or type(name) is not str
            or not name
            or type(width) is not int
            or type(height) is not int
            or width < 1
            or height < 1
        ):
            shown = {key: fields.get(key) for key in ("id", "file_name", "width", "height")}
            tally.add(IMAGE_MALFORMED, f"images[{index}] {shown!r:.200}")
        elif image_id in first_at:
            tally.add(
                IMAGE_DUPLICATE_ID, f"id {image_id} at images[{first_at[image_id]}] and [{index}]"
            )
        else:
            first_at[image_id] = index
            frames[image_id] = pictures[name] = (width, height)
    return _Images(frames, pictures)


def _check_categories(categories: list[Any], tally: Tally) -> frozenset[int]:
    ids: set[int] = set()
    for index, category in enumerate(categories):
        fields = category if isinstance(category, dict) else {}
        category_id = fields.get("id")
        if type(category_id) is not int or type(fields.get("name")) is not str:
            tally.add(CATEGORY_MALFORMED, f"categories[{index}] {category!r:.80}")
        elif category_id in ids:
            tally.add(CATEGORY_DUPLICATE_ID, f"id {category_id} again at categories[{index}]")
        else:
            ids.add(category_id)
    return frozenset(ids)


def _check_annotations(
    annotations: list[Any], frames: dict[int, Frame], category_ids: frozenset[int], tally: Tally
) -> int:
    """Return the number of objects that a trainer can learn from."""
    usable = 0
    first_at: dict[int, int] = {}
    for index, annotation in enumerate(annotations):
        if not isinstance(annotation, dict):
            tally.add(ANNOTATION_MALFORMED, f"annotations[{index}] is {annotation!r:.80}")
            continue
        annotation_id = annotation.get("id")
        if type(annotation_id) is not int:
            tally.add(ANNOTATION_MALFORMED, f"annotations[{index}] id {annotation_id!r:.60}")
        elif annotation_id in first_at:
            tally.add(
                ANNOTATION_DUPLICATE_ID,
                f"id {annotation_id} at annotations[{first_at[annotation_id]}] and [{index}]",
            )
        else:
            first_at[annotation_id] = index
        problems = problems_of_annotation(annotation, frames, category_ids)
        for rule, detail in problems:
            tally.add(rule, _place(index, annotation, detail))
        is_bad = any(rule.severity == "error" for rule, _ in problems)
        usable += not is_bad and not annotation.get("iscrowd")
    return usable


def _place(index: int, annotation: dict[str, Any], detail: str) -> str:
    ids = f"id {annotation.get('id')!r:.40}, image {annotation.get('image_id')!r:.40}"
    return f"annotations[{index}] ({ids}) {detail}"


def _check_not_empty(path: Path, document: dict[str, Any], usable: int) -> Iterator[Finding]:
    if not document["images"]:
        yield _error("dataset-empty", path, "the set is empty: images has no entry")
    elif not usable:
        yield _error(
            "dataset-no-objects",
            path,
            "there is nothing to learn or to measure: no annotation is usable and not a crowd",
        )


def _check_folder(folder: Path, pictures: dict[str, Frame]) -> Iterator[Finding]:
    tally = Tally(str(folder), skip_bad_annotations=False)
    try:
        check_pictures(folder, pictures, tally)
    except (FileNotFoundError, NotADirectoryError):
        yield _error(
            "images-missing",
            folder,
            f"there is no such folder; the annotations name {len(pictures):,} pictures in it",
        )
        return
    except OSError as error:
        yield _error("images-unreadable", folder, f"cannot be read ({error.strerror})")
        return
    yield from tally.findings()


def _error(code: str, path: Path, message: str) -> Finding:
    return Finding(code=code, severity="error", message=message, path=str(path))
