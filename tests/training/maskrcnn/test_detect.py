from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
import torch
from pycocotools import mask as coco_mask

from training.maskrcnn.data.coco import read_split
from training.maskrcnn.data.dataset import EvaluationPictures
from training.maskrcnn.detect import Detector, to_file_size
from training.maskrcnn.model.maskrcnn import build_model


def answer(boxes: list[list[float]], probability: float = 1) -> dict[str, torch.Tensor]:
    count = len(boxes)
    return {
        "boxes": torch.tensor(boxes, dtype=torch.float32).reshape(-1, 4),
        "labels": torch.full((count,), 2),
        "scores": torch.full((count,), 0.5),
        "masks": torch.full((count, 1, 28, 28), probability),
    }


def test_detections_come_back_at_the_size_of_the_file(coco_set: Any) -> None:
    (record, _) = read_split(coco_set.write([]), "train2017").records
    (detection,) = to_file_size(
        answer([[20, 10, 40, 30]]), record, resized=(40, 80), category_ids=[3, 7]
    ).to_coco()
    assert detection["bbox"] == [10, 5, 10, 10]
    assert (detection["image_id"], detection["category_id"]) == (1, 7)
    rows, columns = np.nonzero(coco_mask.decode(detection["segmentation"]))
    assert detection["segmentation"]["size"] == [20, 40]
    # The mask reaches over its box by half a cell, as in torchvision.
    corners = (columns.min(), rows.min(), columns.max() + 1, rows.max() + 1)
    assert corners == pytest.approx((10, 5, 20, 15), abs=1)
    json.dumps(detection)


def test_masks_keep_the_order_of_their_boxes(coco_set: Any) -> None:
    (record, _) = read_split(coco_set.write([]), "train2017").records
    boxes = [[float(left), 2, float(left + 4), 12] for left in range(36)]
    detections = to_file_size(
        answer(boxes), record, resized=(20, 40), category_ids=[3, 7]
    ).to_coco()
    assert [d["bbox"][0] for d in detections] == list(range(36))
    drawn = [coco_mask.toBbox(d["segmentation"])[0] for d in detections]
    assert drawn == pytest.approx(range(36), abs=1)
    assert drawn == sorted(drawn)


def test_no_detections_are_an_empty_list(coco_set: Any) -> None:
    (record, _) = read_split(coco_set.write([]), "train2017").records
    assert to_file_size(answer([]), record, resized=(20, 40), category_ids=[3, 7]).to_coco() == []


def test_without_masks_detections_have_no_segmentation(coco_set: Any) -> None:
    (record, _) = read_split(coco_set.write([]), "train2017").records
    boxes = {k: v for k, v in answer([[20, 10, 40, 30]]).items() if k != "masks"}
    (detection,) = to_file_size(boxes, record, resized=(40, 80), category_ids=[3, 7]).to_coco()
    assert set(detection) == {"image_id", "category_id", "bbox", "score"}


def test_detections_are_of_the_picture_and_the_best_come_first(shapes: Any, tiny: Any) -> None:
    hyperparameters = tiny(score_threshold=0.0)
    split = read_split(shapes, "val2017")
    model = build_model(hyperparameters, categories=4, sum_over_ranks=lambda tensor: tensor)
    detector = Detector(
        model.eval(),
        torch.device("cpu"),
        precision=torch.float32,
        category_ids=list(split.categories),
    )
    record, pixels = EvaluationPictures(split.records, hyperparameters)[0]
    detections = detector.detect(record, pixels)
    assert len(detections) == 10
    assert {d["image_id"] for d in detections} == {record.image_id}
    assert {d["category_id"] for d in detections} <= set(split.categories)
    scores = [d["score"] for d in detections]
    assert scores == sorted(scores, reverse=True)
