from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from pycocotools import mask as coco_mask
from pycocotools.coco import COCO
from pycocotools.cocoeval import COCOeval

from training.layout import TrainChannel
from training.maskrcnn.coco_eval import Detection, mean_average_precision
from training.maskrcnn.data.coco import Split, read_split

Annotation = Callable[..., dict[str, Any]]


def rle(box: tuple[int, int, int, int]) -> dict[str, Any]:
    left, top, right, bottom = box
    mask = np.zeros((20, 40), np.uint8)
    mask[top:bottom, left:right] = 1
    encoded = coco_mask.encode(np.asfortranarray(mask))
    return {"size": encoded["size"], "counts": encoded["counts"].decode()}


def detection(
    image_id: int, category_id: int, box: tuple[int, int, int, int], score: float = 0.9
) -> Detection:
    left, top, right, bottom = box
    return {
        "image_id": image_id,
        "category_id": category_id,
        "bbox": [left, top, right - left, bottom - top],
        "score": score,
        "segmentation": rle(box),
    }


@pytest.fixture
def split(coco_set: Any, annotation: Annotation) -> Split:
    """One cat of 8 x 8 pixels on the first of two pictures."""
    return read_split(coco_set.write([annotation()]), "train2017")


def evaluate(split: Split, detections: list[Detection]) -> dict[str, float]:
    return mean_average_precision(split.records, split.categories, detections)


def test_a_perfect_detection_scores_one(split: Split) -> None:
    values = evaluate(split, [detection(1, 3, (10, 5, 18, 13))])
    assert values["mAP(bbox)/IoU=0.5:0.95"] == pytest.approx(1)
    assert values["mAP(segm)/IoU=0.75"] == pytest.approx(1)
    assert values["mAP(segm)/small"] == pytest.approx(1)
    assert values["mAP(segm)/large"] == -1


def test_without_detections_metrics_are_zero_and_minus_one_where_there_is_no_truth(
    split: Split,
) -> None:
    values = evaluate(split, [])
    assert len(values) == 12
    for kind in ("bbox", "segm"):
        assert values[f"mAP({kind})/IoU=0.5"] == 0
        assert values[f"mAP({kind})/small"] == 0
        assert values[f"mAP({kind})/medium"] == -1


def test_without_truth_metrics_are_minus_one(coco_set: Any) -> None:
    empty = read_split(coco_set.write([]), "train2017")
    values = evaluate(empty, [detection(1, 3, (10, 5, 18, 13))])
    assert set(values.values()) == {-1}


def test_a_detection_in_a_crowd_is_no_mistake(coco_set: Any, annotation: Annotation) -> None:
    crowd = annotation(id=2, image_id=2, iscrowd=1, bbox=[0, 0, 40, 20], area=800)
    crowd["segmentation"] = {"size": [20, 40], "counts": [0, 800]}
    split = read_split(coco_set.write([annotation(), crowd]), "train2017")
    values = evaluate(
        split, [detection(1, 3, (10, 5, 18, 13), 0.5), detection(2, 3, (3, 3, 9, 9), 0.9)]
    )
    assert values["mAP(segm)/IoU=0.5"] == pytest.approx(1)


def test_numbers_are_those_of_pycocotools_own_loader(shapes: TrainChannel) -> None:
    split = read_split(shapes, "val2017")
    random = np.random.default_rng(0)
    detections = []
    for record in split.records:
        for box, label in zip(record.boxes, record.labels, strict=True):
            left, top, right, bottom = (box + random.integers(-2, 3, 4)).clip(0, 63).astype(int)
            mask = np.zeros((64, 64), np.uint8)
            mask[top : bottom + 1, left : right + 1] = 1
            encoded = coco_mask.encode(np.asfortranarray(mask))
            encoded["counts"] = encoded["counts"].decode()
            detections.append(
                {
                    "image_id": record.image_id,
                    "category_id": list(split.categories)[label - 1],
                    "bbox": [int(left), int(top), int(right - left), int(bottom - top)],
                    "score": float(random.random()),
                    "segmentation": encoded,
                }
            )
    ours = evaluate(split, detections)
    truth = COCO(str(Path(shapes.annotations("val2017"))))
    for kind, keys in (("bbox", ("segmentation",)), ("segm", ("bbox",))):
        stripped = [{k: v for k, v in d.items() if k not in keys} for d in detections]
        theirs = COCOeval(truth, truth.loadRes(stripped), kind)
        theirs.evaluate()
        theirs.accumulate()
        theirs.summarize()
        assert [v for name, v in ours.items() if f"({kind})" in name] == pytest.approx(
            list(theirs.stats[:6]), abs=1e-9
        )
