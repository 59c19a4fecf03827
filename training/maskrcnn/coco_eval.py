"""Mean average precision and recall, as pycocotools' COCOeval computes them.

hotcoco computes the very numbers of pycocotools, to the last bit, in a small part of its time:
https://github.com/derekallman/hotcoco. It takes some pictures at a time and keeps what matched,
so that never all truth and all masks are unpacked together.
"""

from __future__ import annotations

import contextlib
import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import count
from typing import Any, Literal

import numpy as np
from hotcoco import COCOeval, StreamingEval
from numpy.typing import NDArray

from training.data.document import paused_garbage_collection
from training.maskrcnn.data.record import Record
from training.maskrcnn.found import Found

IouType = Literal["bbox", "segm"]

NAMES = ("IoU=0.5:0.95", "IoU=0.5", "IoU=0.75", "small", "medium", "large")
"""The first six numbers of COCOeval, mAP, in its order."""
RECALL_NAMES = ("detections=1", "detections=10", "detections=100", "small", "medium", "large")
"""The other six: mean average recall with so many detections a picture, or of objects of one size
with 100."""
PICTURES_AT_ONCE = 250
"""Of val2017 all 5,000 at once took 600 MB more, which stayed with the process."""
NO_TRUTH = -1
"""What stands where there is no object to detect."""

AVERAGED = {"IoU=0.5:0.95": slice(None), "IoU=0.5": slice(0, 1), "IoU=0.75": slice(5, 6)}
"""Which of COCOeval's ten thresholds, 0.5 to 0.95, a category's average precision is of."""
DRAWN = {"IoU=0.5": 0, "IoU=0.75": 5}
"""Which of them has a curve."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Precision:
    """Of each of K categories, in their order: objects of all sizes, 100 detections a picture."""

    averages: Mapping[str, NDArray[np.float64]]
    """`AVERAGED` to (K,); `NO_TRUTH` where the category has no object."""
    curves: Mapping[str, NDArray[np.float64]]
    """`DRAWN` to (K, 101): at recall 0, 0.01, ..., 1; `NO_TRUTH` in all of a category's places."""


@dataclass(frozen=True, kw_only=True)
class Comparison:
    """What the comparison of detections with the truth gave."""

    metrics: Mapping[str, float]
    """Twelve numbers for each kind: `mAP(bbox)/IoU=0.5`, ..., `mAR(bbox)/small`, ..."""
    precision: Mapping[IouType, Precision]


def mean_average_precision(
    records: Sequence[Record],
    categories: Mapping[int, str],
    found: Found,
    *,
    kinds: Sequence[IouType] = ("bbox", "segm"),
) -> dict[str, float]:
    """Return twelve numbers for each kind: `mAP(bbox)/IoU=0.5`, ..., `mAR(bbox)/small`, ...

    A number is 0 where nothing was detected, and -1 where there is no truth to detect.
    """
    return _all_numbers(_evaluate(records, categories, found, kinds))


def compare(
    records: Sequence[Record],
    categories: Mapping[int, str],
    found: Found,
    *,
    kinds: Sequence[IouType] = ("bbox", "segm"),
) -> Comparison:
    """Compare detections with the truth, in all and by category."""
    results = _evaluate(records, categories, found, kinds)
    return Comparison(
        metrics=_all_numbers(results),
        precision={kind: _precision(result) for kind, result in results.items()},
    )


def _evaluate(
    records: Sequence[Record],
    categories: Mapping[int, str],
    found: Found,
    kinds: Sequence[IouType],
) -> dict[IouType, COCOeval]:
    listed = [{"id": key, "name": name} for key, name in categories.items()]
    evaluations = {kind: StreamingEval(listed, kind) for kind in kinds}
    ids = count(1)
    # Of thousands of objects none can be freed before the end.
    with paused_garbage_collection():
        for begin in range(0, len(records), PICTURES_AT_ONCE):
            part = records[begin : begin + PICTURES_AT_ONCE]
            images = [{"id": r.image_id, "height": r.height, "width": r.width} for r in part]
            truth = [a for record in part for a in _truth(record, list(categories), ids)]
            own = found.of_images([record.image_id for record in part])
            for kind, evaluation in evaluations.items():
                evaluation.update(images, truth, _detections(own, kind))
    results = {kind: evaluation.finalize() for kind, evaluation in evaluations.items()}
    for result in results.values():
        result.accumulate()
    return results


def _all_numbers(results: Mapping[IouType, COCOeval]) -> dict[str, float]:
    return {
        name: value
        for kind, result in results.items()
        for name, value in _twelve_numbers(result, kind).items()
    }


def _twelve_numbers(result: COCOeval, kind: IouType) -> dict[str, float]:
    # It prints its table.
    with contextlib.redirect_stdout(io.StringIO()):
        result.summarize()
    names = [f"mAP({kind})/{name}" for name in NAMES]
    names += [f"mAR({kind})/{name}" for name in RECALL_NAMES]
    return {name: float(value) for name, value in zip(names, result.stats, strict=True)}


def _precision(result: COCOeval) -> Precision:
    assert result.eval is not None
    # Threshold, recall, category, size of objects, detections a picture:
    # https://github.com/cocodataset/cocoapi/blob/master/PythonAPI/pycocotools/cocoeval.py
    of_all_sizes = np.asarray(result.eval["precision"])[:, :, :, 0, -1]
    return Precision(
        averages={
            name: of_all_sizes[thresholds].mean(axis=(0, 1))
            for name, thresholds in AVERAGED.items()
        },
        curves={name: of_all_sizes[at].T.copy() for name, at in DRAWN.items()},
    )


def _truth(record: Record, category_ids: list[int], ids: count[int]) -> list[dict[str, Any]]:
    """Return one picture's annotations, as COCO has them."""
    return [
        {
            "id": next(ids),
            "image_id": record.image_id,
            "category_id": category_ids[label - 1],
            "bbox": [left, top, right - left, bottom - top],
            "iscrowd": int(is_crowd),
            "area": area,
            "segmentation": outline,
        }
        for (left, top, right, bottom), label, is_crowd, area, outline in zip(
            record.boxes.tolist(),
            record.labels.tolist(),
            record.is_crowd.tolist(),
            record.areas.tolist(),
            record.outlines(),
            strict=True,
        )
    ]


def _detections(found: Found, kind: IouType) -> Any:
    """Return what hotcoco takes: a detection is as large as its box, or, where it has none, its
    mask."""
    if kind == "bbox":
        return np.column_stack([found.image_ids, found.boxes, found.scores, found.category_ids])
    return [{k: v for k, v in one.items() if k != "bbox"} for one in found.to_coco()]
