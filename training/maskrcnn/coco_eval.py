"""Mean average precision and recall, as pycocotools' COCOeval computes them.

hotcoco computes the very numbers of pycocotools, to the last bit, in a small part of its time:
https://github.com/derekallman/hotcoco. It takes some pictures at a time and keeps what matched,
so that never all truth and all masks are unpacked together.
"""

from __future__ import annotations

import contextlib
import io
from collections.abc import Mapping, Sequence
from itertools import count
from typing import Any, Literal

import numpy as np
from hotcoco import StreamingEval

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
    return {
        name: value
        for kind, evaluation in evaluations.items()
        for name, value in _twelve_numbers(evaluation, kind).items()
    }


def _twelve_numbers(evaluation: StreamingEval, kind: IouType) -> dict[str, float]:
    result = evaluation.finalize()
    result.accumulate()
    # It prints its table.
    with contextlib.redirect_stdout(io.StringIO()):
        result.summarize()
    names = [f"mAP({kind})/{name}" for name in NAMES]
    names += [f"mAR({kind})/{name}" for name in RECALL_NAMES]
    return {name: float(value) for name, value in zip(names, result.stats, strict=True)}


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
