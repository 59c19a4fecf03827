from __future__ import annotations

import json
import pickle
from typing import Any

import numpy as np
import pytest

from training.maskrcnn.found import Found

DETECTIONS: list[dict[str, Any]] = [
    {
        "image_id": image_id,
        "category_id": category_id,
        "bbox": [1.5, 2.0, 30.25, 4.0],
        "score": score,
        "segmentation": {"size": [20, 40], "counts": counts},
    }
    for image_id, category_id, score, counts in [
        (7, 3, 0.5, "T31c0800000O1P9"),
        (2, 90, 0.25, "P<"),
        (7, 1, 0.125, "0Pi0"),
    ]
]


def test_detections_come_out_as_they_went_in_ready_for_json() -> None:
    assert json.loads(json.dumps(Found.from_coco(DETECTIONS).to_coco())) == DETECTIONS


def test_counts_may_be_bytes_as_pycocotools_has_them() -> None:
    rle = DETECTIONS[0]["segmentation"]
    as_bytes = {**rle, "counts": rle["counts"].encode()}
    (detection,) = Found.from_coco([{**DETECTIONS[0], "segmentation": as_bytes}]).to_coco()
    assert detection == DETECTIONS[0]


def test_joined_keeps_the_order() -> None:
    parts = [Found.from_coco(DETECTIONS[:1]), Found.from_coco([]), Found.from_coco(DETECTIONS[1:])]
    assert Found.joined(parts, with_masks=True).to_coco() == DETECTIONS


@pytest.mark.parametrize("with_masks", [True, False])
def test_joined_of_nothing_is_empty(with_masks: bool) -> None:
    found = Found.joined([], with_masks=with_masks)
    assert (len(found), found.to_coco()) == (0, [])
    assert (found.masks is not None) == with_masks
    assert found.boxes.shape == (0, 4)


def test_detections_without_masks_have_no_segmentation() -> None:
    plain = [{k: v for k, v in d.items() if k != "segmentation"} for d in DETECTIONS]
    found = Found.joined([Found.from_coco(plain, with_masks=False)], with_masks=False)
    assert found.to_coco() == plain
    assert found.of_images([2]).to_coco() == [plain[1]]


def test_of_images_sorts_by_picture_and_keeps_their_order() -> None:
    found = Found.from_coco(DETECTIONS)
    assert found.of_images([7, 2, 5]).to_coco() == [DETECTIONS[at] for at in (1, 0, 2)]
    assert found.of_images([5]).to_coco() == []


def test_a_detection_takes_few_bytes_on_its_way_between_ranks() -> None:
    found = Found.from_coco(DETECTIONS * 1000)
    of_masks = sum(len(d["segmentation"]["counts"]) for d in DETECTIONS) * 1000
    # Ids, box, score, size and place of the mask: 16 + 32 + 8 + 8 + 8.
    assert len(pickle.dumps(found)) < 72 * len(found) + of_masks + 2000
    assert np.array_equal(pickle.loads(pickle.dumps(found)).scores, found.scores)


def test_at_least_keeps_the_good_ones_with_their_masks() -> None:
    found = Found.from_coco(DETECTIONS)
    assert found.at_least(0.25).to_coco() == DETECTIONS[:2]
    assert found.at_least(0.6).to_coco() == []


def test_some_are_in_the_order_that_is_asked_for() -> None:
    found = Found.from_coco(DETECTIONS)
    assert found.some(np.array([2, 0])).to_coco() == [DETECTIONS[2], DETECTIONS[0]]
