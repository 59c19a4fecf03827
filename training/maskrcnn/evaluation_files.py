"""What the last evaluation leaves for the report: evaluation.json and predictions.json.

evaluation.json is about the whole split and small; predictions.json holds detections, of the first
pictures and of the best and worst ones only.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from training.maskrcnn.coco_eval import NO_TRUTH, Precision
from training.maskrcnn.data.coco import Split
from training.maskrcnn.evaluate import Evaluation
from training.maskrcnn.files import write_result
from training.maskrcnn.found import Found
from training.maskrcnn.matches import MIN_IOU, Matches
from training.report.dataset import MIN_SCORE

VERSION = 1
"""Of evaluation.json: another one where a reader would misunderstand it."""
PREDICTED_PICTURES = 500
"""predictions.json holds the detections of so many pictures, the first by image id."""
EXTREMES = 8
"""So many of the best and of the worst pictures are named; the report shows some of them."""
_DIGITS = 6
"""Of precisions: more would make the file large."""


def write_evaluation(path: Path, split: Split, evaluation: Evaluation, *, step: int) -> None:
    """Write evaluation.json (see `LogChannel.evaluation`).

    Raises:
        JobFailed: It cannot be written.
    """
    document = evaluation_document(split, evaluation, step=step)
    write_result(path, json.dumps(document, separators=(",", ":")).encode())


def evaluation_document(split: Split, evaluation: Evaluation, *, step: int) -> dict[str, Any]:
    """Return what evaluation.json holds."""
    matches = evaluation.matches
    best, worst = extremes(matches)
    return {
        "version": VERSION,
        "split": split.name,
        "step": step,
        "categories": _categories(split, evaluation),
        "curves": {
            kind: {name: _curves(curve) for name, curve in precision.curves.items()}
            for kind, precision in evaluation.comparison.precision.items()
        },
        "matching": {"kind": evaluation.judged_by, "min_score": MIN_SCORE, "min_iou": MIN_IOU},
        "confusion": _confusion(matches, list(split.categories)),
        "pictures": {
            "ids": matches.image_ids.tolist(),
            "right": matches.right.tolist(),
            "wrong": matches.wrong.tolist(),
            "missed": matches.missed.tolist(),
            "f1": [_known(value, digits=4) for value in matches.f1()],
        },
        "best": best,
        "worst": worst,
    }


def write_predictions(
    path: Path, split: Split, detections: Found, *, step: int, also: Iterable[int] = ()
) -> None:
    """Write predictions.json, with the first pictures only where there are many.

    Args:
        also: Ids of other pictures that must be in it.

    Raises:
        JobFailed: It cannot be written.
    """
    first = (record.image_id for record in split.records[:PREDICTED_PICTURES])
    kept = sorted({*first, *also})
    document = {
        "split": split.name,
        "step": step,
        "images": kept,
        "detections": detections.of_images(kept).to_coco(),
    }
    write_result(path, json.dumps(document).encode())


def extremes(matches: Matches) -> tuple[list[int], list[int]]:
    """Return the ids of the best pictures, the best first, and of the worst, the worst first.

    Of pictures that are as good, those with more objects say more. No picture is both; one without
    objects is neither. The best have found something, the worst have a fault.
    """
    f1 = matches.f1()
    ranked = np.lexsort((matches.image_ids, -(matches.right + matches.missed), -f1))
    ranked = ranked[~np.isnan(f1[ranked])]
    in_better_half = np.arange(len(ranked)) < len(ranked) / 2
    is_good = (f1[ranked] == 1) | (in_better_half & (f1[ranked] > 0))
    best, worst = ranked[is_good], ranked[~is_good]
    worst = worst[np.lexsort((matches.image_ids[worst], -_faults(matches)[worst], f1[worst]))]
    ids = matches.image_ids
    return ids[best[:EXTREMES]].tolist(), ids[worst[:EXTREMES]].tolist()


def _faults(matches: Matches) -> NDArray[np.int64]:
    return matches.wrong + matches.missed


def _categories(split: Split, evaluation: Evaluation) -> list[dict[str, Any]]:
    _, labels = split.records.object_labels()
    objects = np.bincount(labels, minlength=len(split.categories) + 1)[1:].tolist()
    return [
        {
            "id": category_id,
            "name": name,
            "objects": objects[place],
            "ap": {
                kind: _averages(precision, place)
                for kind, precision in evaluation.comparison.precision.items()
            },
        }
        for place, (category_id, name) in enumerate(split.categories.items())
    ]


def _averages(precision: Precision, place: int) -> dict[str, float | None]:
    return {
        name: None if values[place] == NO_TRUTH else round(float(values[place]), _DIGITS)
        for name, values in precision.averages.items()
    }


def _curves(curve: NDArray[np.float64]) -> list[list[float] | None]:
    """Return each category's precision at the recalls; None where it has no object."""
    return [None if row[0] == NO_TRUTH else row.round(_DIGITS).tolist() for row in curve]


def _confusion(matches: Matches, category_ids: list[int]) -> list[list[int | None]]:
    """Return true category, predicted one and count, those that occur; None: nothing there, or
    missed."""
    ids: list[int | None] = [*category_ids, None]
    rows, columns = np.nonzero(matches.confusion)
    return [
        [ids[row], ids[column], int(matches.confusion[row, column])]
        for row, column in zip(rows.tolist(), columns.tolist(), strict=True)
    ]


def _known(value: float, *, digits: int) -> float | None:
    return None if np.isnan(value) else round(float(value), digits)
