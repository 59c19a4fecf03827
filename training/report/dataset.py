"""Chooses pictures of a split, with their true objects and what was predicted on them."""

from __future__ import annotations

import json
import math
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

from training.layout import LogChannel, TrainChannel
from training.report.tensorpack import find_attempts, newest_outputs

PICTURES = 8
MIN_SCORE = 0.5
"""Detections below it are guesses that would cover the picture."""
MAX_DETECTIONS = 20

_IMAGE_ID = re.compile(r'"image_id":\s*(\d+)')
_DETECTIONS = re.compile(r'"detections":\s*\[')
_LIST = re.compile(r"\[")


class NoPictures(Exception):
    """There are no pictures to show; the message says why, in a sentence."""


@dataclass(frozen=True)
class Region:
    """An object, true or predicted."""

    category_id: int
    category: str
    segmentation: Any
    """COCO's: polygons, or an RLE of a list or a string."""
    score: float | None
    """None where it is true."""
    crowd: bool = False
    box: tuple[float, float, float, float] | None = None
    """x, y, width, height in pixels; None where it is not to be drawn."""


@dataclass(frozen=True)
class Picture:
    """A picture with both views of it."""

    path: Path
    width: int
    height: int
    truth: tuple[Region, ...]
    predicted: tuple[Region, ...]
    hidden: int
    """Detections that are not shown, for their score or their number."""


@dataclass(frozen=True)
class Sample:
    """The pictures that the report shows."""

    split: str
    step: int | None
    chosen_from: int
    """How many pictures they were chosen from."""
    pictures: tuple[Picture, ...]


@dataclass(frozen=True)
class _Predictions:
    """What an evaluation has found, not yet decoded: it may be a hundred megabytes."""

    split: str
    step: int | None
    text: str
    begin: re.Pattern[str]
    """Where the list of detections begins, in COCO's result format."""


def choose_pictures(log: LogChannel, train: TrainChannel | None) -> Sample:
    """Return up to `PICTURES` of the last evaluation, spread evenly over the split.

    Raises:
        NoPictures: Something that is needed is not there, or cannot be read.
    """
    predictions = _predictions(log)
    if train is None:
        raise NoPictures(
            "The data set is not at hand. Name its folder to see pictures: "
            "python -m training.jobs report LOG_DIR --data DIR"
        )
    split = predictions.split
    annotations = _annotations(train.annotations(split))
    try:
        return _sample(predictions, annotations, train.images(split))
    except (KeyError, TypeError, ValueError) as error:
        raise NoPictures(
            f"Predictions or annotations of {split} are not in COCO's form ({error!r})."
        ) from error


def _sample(predictions: _Predictions, annotations: dict[str, Any], folder: Path) -> Sample:
    split = predictions.split
    detected = [int(image_id) for image_id in _IMAGE_ID.findall(predictions.text)]
    candidates = _candidates(annotations, detected, folder)
    images = _spread(candidates)
    if not images:
        raise NoPictures(f"No picture of {split} with a true object is in {folder}.")
    image_ids = {image["id"] for image in images}
    truth = _by_image(annotations["annotations"], image_ids)
    detections = _by_image(_decode_list(predictions.text, predictions.begin), image_ids)
    categories = {entry["id"]: str(entry["name"]) for entry in annotations["categories"]}
    pictures = tuple(
        _picture(image, folder, truth[image["id"]], detections[image["id"]], categories)
        for image in images
    )
    return Sample(split, predictions.step, len(candidates), pictures)


def _predictions(log: LogChannel) -> _Predictions:
    if log.predictions.exists():
        text = _text(log.predictions)
        return _Predictions(*_head(text), text, _DETECTIONS)
    outputs = newest_outputs(find_attempts(log.root))
    if outputs is None:
        raise NoPictures("No evaluation has left its predictions, so there are none to show.")
    return _Predictions(outputs.split, outputs.step, _text(outputs.path), _LIST)


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        raise NoPictures(f"{path.name} cannot be read.") from None


def _head(text: str) -> tuple[str, int | None]:
    """Return split and step, which stand outside of the list of detections.

    The list may hold a hundred megabytes: it is cut out before the rest is parsed.
    """
    match = _DETECTIONS.search(text)
    if match is not None:
        try:
            head = json.loads(text[: match.end()] + text[text.rindex("]") :])
            step = head.get("step")
            return str(head["split"]), step if isinstance(step, int) else None
        except (ValueError, KeyError, AttributeError):
            pass
    raise NoPictures("predictions.json is not whole: the job was stopped while it was written.")


def _decode_list(text: str, start: re.Pattern[str]) -> Iterator[Any]:
    decoder = json.JSONDecoder()
    match = start.search(text)
    at = match.end() if match else len(text)
    separator = re.compile(r"[\s,]*")
    while True:
        space = separator.match(text, at)
        at = space.end() if space else at
        if text[at : at + 1] == "]":
            return
        value, at = decoder.raw_decode(text, at)
        yield value


def _annotations(path: Path) -> dict[str, Any]:
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise NoPictures(f"The annotations are not there: {path}") from None
    except (OSError, ValueError):
        raise NoPictures(f"The annotations cannot be read: {path}") from None
    if not isinstance(document, dict):
        raise NoPictures(f"The annotations are not in COCO's form: {path}")
    return document


def _candidates(
    annotations: dict[str, Any], detected: list[int], folder: Path
) -> list[dict[str, Any]]:
    """Return the pictures on disk that have a true object and were evaluated.

    Predictions are kept for the first pictures by id: one between the first and the last that
    have any was evaluated too, and nothing was found on it.
    """
    with_objects = {
        annotation["image_id"]
        for annotation in annotations["annotations"]
        if not annotation.get("iscrowd")
    }
    low, high = (min(detected), max(detected)) if detected else (-math.inf, math.inf)
    return [
        image
        for image in annotations["images"]
        if image["id"] in with_objects
        and low <= image["id"] <= high
        and _is_inside(folder, str(image["file_name"]))
    ]


def _is_inside(folder: Path, name: str) -> bool:
    """Tell whether a file of the split is there; a name may lead into its folders only."""
    path = PurePosixPath(name)
    return not path.is_absolute() and ".." not in path.parts and (folder / path).is_file()


def _spread(images: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return evenly spaced ones, the same ones each time."""
    ordered = sorted(images, key=lambda image: int(image["id"]))
    chosen = min(PICTURES, len(ordered))
    return [ordered[index * len(ordered) // chosen] for index in range(chosen)]


def _by_image(entries: Iterable[Any], image_ids: set[int]) -> dict[int, list[dict[str, Any]]]:
    """Return the annotations or detections of some pictures, by picture."""
    found: dict[int, list[dict[str, Any]]] = defaultdict(list)
    for entry in entries:
        if entry["image_id"] in image_ids:
            found[entry["image_id"]].append(entry)
    return found


def _picture(
    image: dict[str, Any],
    folder: Path,
    truth: list[dict[str, Any]],
    detections: list[dict[str, Any]],
    categories: dict[int, str],
) -> Picture:
    shown = shown_detections(detections)
    return Picture(
        path=folder / image["file_name"],
        width=int(image["width"]),
        height=int(image["height"]),
        truth=tuple(to_region(one, categories) for one in truth),
        predicted=tuple(to_region(one, categories) for one in shown),
        hidden=len(detections) - len(shown),
    )


def shown_detections(detections: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return a picture's detections that are worth drawing, the best first."""
    found = sorted(detections, key=lambda one: float(one["score"]), reverse=True)
    return [one for one in found if float(one["score"]) >= MIN_SCORE][:MAX_DETECTIONS]


def to_region(
    entry: Mapping[str, Any], categories: Mapping[int, str], *, with_box: bool = False
) -> Region:
    """Return an annotation or a detection as it is drawn; with its box, if that is wanted."""
    category_id = int(entry["category_id"])
    return Region(
        category_id=category_id,
        category=categories.get(category_id, f"category {category_id}"),
        segmentation=entry.get("segmentation"),
        score=float(entry["score"]) if "score" in entry else None,
        crowd=bool(entry.get("iscrowd")),
        box=tuple(entry["bbox"]) if with_box else None,
    )
