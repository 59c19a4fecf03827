"""Mean average precision by pycocotools."""

from __future__ import annotations

import contextlib
import io
from collections.abc import Mapping, Sequence
from typing import Any, Literal

from pycocotools import mask
from pycocotools.coco import COCO
from pycocotools.cocoeval import COCOeval

from training.maskrcnn.data.record import Record

IouType = Literal["bbox", "segm"]

NAMES = ("IoU=0.5:0.95", "IoU=0.5", "IoU=0.75", "small", "medium", "large")
"""The first six numbers of COCOeval, in its order."""

Detection = dict[str, Any]
"""In COCO's result format: `image_id`, `category_id`, `bbox` (x, y, width, height), `score`,
`segmentation` (compressed run-length encoding)."""


def mean_average_precision(
    records: Sequence[Record], categories: Mapping[int, str], detections: Sequence[Detection]
) -> dict[str, float]:
    """Return the twelve numbers, `mAP(bbox)/IoU=0.5` and so on.

    A number is 0 where nothing was detected, and -1 where there is no truth to detect.
    """
    values: dict[str, float] = {}
    with contextlib.redirect_stdout(io.StringIO()):
        truth = _index(records, categories, _truth(records, categories))
        for kind in ("bbox", "segm"):
            found = _index(records, categories, _found(detections, kind))
            evaluation = COCOeval(truth, found, kind)
            evaluation.evaluate()
            evaluation.accumulate()
            evaluation.summarize()
            for name, value in zip(NAMES, evaluation.stats, strict=False):
                values[f"mAP({kind})/{name}"] = float(value)
    return values


def _index(
    records: Sequence[Record], categories: Mapping[int, str], annotations: list[dict[str, Any]]
) -> COCO:
    # Filled by hand: COCO.loadRes raises where there is no detection (cocodataset/cocoapi#675).
    index = COCO()
    index.dataset = {
        "images": [{"id": r.image_id, "height": r.height, "width": r.width} for r in records],
        "categories": [{"id": key, "name": name} for key, name in categories.items()],
        "annotations": annotations,
    }
    index.createIndex()
    return index


def _truth(records: Sequence[Record], categories: Mapping[int, str]) -> list[dict[str, Any]]:
    ids = list(categories)
    annotations: list[dict[str, Any]] = []
    for record in records:
        for box, label, is_crowd, area, outline in zip(
            record.boxes.tolist(),
            record.labels.tolist(),
            record.is_crowd.tolist(),
            record.areas.tolist(),
            record.outlines(),
            strict=True,
        ):
            annotations.append(
                {
                    "id": len(annotations) + 1,
                    "image_id": record.image_id,
                    "category_id": ids[label - 1],
                    "bbox": [box[0], box[1], box[2] - box[0], box[3] - box[1]],
                    "iscrowd": int(is_crowd),
                    "area": area,
                    "segmentation": outline,
                }
            )
    return annotations


def _found(detections: Sequence[Detection], kind: IouType) -> list[dict[str, Any]]:
    """Give detections what COCOeval wants; their size is that of the box or of the mask."""
    return [
        {
            **detection,
            "id": place,
            "iscrowd": 0,
            "area": detection["bbox"][2] * detection["bbox"][3]
            if kind == "bbox"
            else float(mask.area(detection["segmentation"])),
        }
        for place, detection in enumerate(detections, start=1)
    ]
