"""Chooses pictures of a split, with their true objects and what was predicted on them."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

from training.layout import LogChannel, TrainChannel
from training.report.predictions import NoPictures, Predictions, read_predictions

PICTURES = 8
MIN_SCORE = 0.5
"""Detections below it are guesses that would cover the picture."""
MAX_DETECTIONS = 20


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
    named: Mapping[int, Picture]
    """Those that were asked for by id, as far as they are there."""


_OF_ANOTHER_FORM = (
    AttributeError,
    KeyError,
    OverflowError,
    RecursionError,
    TypeError,
    ValueError,
)
"""What comes of values that are not as COCO has them."""


def choose_pictures(
    log: LogChannel, train: TrainChannel | None, *, named: Collection[int] = ()
) -> Sample:
    """Return up to `PICTURES` of the last evaluation, spread evenly over the split.

    Args:
        named: Ids of other pictures that are wanted besides.

    Raises:
        NoPictures: Something that is needed is not there, or cannot be read.
    """
    predictions = read_predictions(log)
    if train is None:
        raise NoPictures(
            "The data set is not at hand. Name its folder to see pictures: "
            "python -m training.jobs report LOG_DIR --data DIR"
        )
    split = predictions.split
    annotations = _annotations(train.annotations(split))
    try:
        return _sample(predictions, annotations, train.images(split), named)
    except _OF_ANOTHER_FORM as error:
        raise NoPictures(
            f"Predictions or annotations of {split} are not in COCO's form ({error!r})."
        ) from error


def _sample(
    predictions: Predictions, annotations: dict[str, Any], folder: Path, named: Collection[int]
) -> Sample:
    split = predictions.split
    candidates = _candidates(annotations, predictions, folder)
    spread = _spread(candidates)
    if not spread:
        raise NoPictures(f"No picture of {split} with a true object is in {folder}.")
    shown = {image["id"]: image for image in spread}
    shown |= {image["id"]: image for image in candidates if image["id"] in named}
    truth = _by_image(annotations["annotations"], shown)
    detections = _by_image(predictions, shown)
    categories = {entry["id"]: str(entry["name"]) for entry in annotations["categories"]}
    pictures = {
        image_id: _picture(image, folder, truth[image_id], detections[image_id], categories)
        for image_id, image in shown.items()
    }
    return Sample(
        split=split,
        step=predictions.step,
        chosen_from=len(candidates),
        pictures=tuple(pictures[image["id"]] for image in spread),
        named={image_id: pictures[image_id] for image_id in named if image_id in pictures},
    )


def _annotations(path: Path) -> dict[str, Any]:
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise NoPictures(f"The annotations are not there: {path}") from None
    except (OSError, ValueError, RecursionError):
        raise NoPictures(f"The annotations cannot be read: {path}") from None
    if not isinstance(document, dict):
        raise NoPictures(f"The annotations are not in COCO's form: {path}")
    return document


def _candidates(
    annotations: dict[str, Any], predictions: Predictions, folder: Path
) -> list[dict[str, Any]]:
    """Return the pictures on disk that have a true object and were evaluated."""
    with_objects = {
        annotation["image_id"]
        for annotation in annotations["annotations"]
        if not annotation.get("iscrowd")
    }
    was_evaluated = predictions.is_about()
    return [
        image
        for image in annotations["images"]
        if image["id"] in with_objects
        and was_evaluated(image["id"])
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


def _by_image(
    entries: Iterable[Any], image_ids: Collection[int]
) -> dict[int, list[dict[str, Any]]]:
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
