from __future__ import annotations

import json
from pathlib import Path

import pytest
import torch

from bench import inference
from bench.evaluation import measure
from bench.evaluation_set import CATEGORY_IDS, MOST_DETECTIONS, make_evaluation_set


def test_the_made_up_set_has_cocos_proportions(tmp_path: Path) -> None:
    detections = make_evaluation_set(tmp_path / "a.json", pictures=150)
    document = json.loads((tmp_path / "a.json").read_text())
    truth = document["annotations"]
    assert len(document["images"]) == 150
    assert len(truth) / 150 == pytest.approx(36_781 / 5_000, rel=0.15)
    small = sum(annotation["area"] < 32**2 for annotation in truth) / len(truth)
    large = sum(annotation["area"] > 96**2 for annotation in truth) / len(truth)
    assert (small, large) == pytest.approx((0.41, 0.24), abs=0.1)
    assert {annotation["category_id"] for annotation in truth} <= set(CATEGORY_IDS)
    found = [detection["image_id"] for detection in detections]
    assert max(map(found.count, set(found))) <= MOST_DETECTIONS
    assert len(found) / 150 == pytest.approx(MOST_DETECTIONS / 2, rel=0.15)
    assert make_evaluation_set(tmp_path / "b.json", pictures=150) == detections
    assert (tmp_path / "b.json").read_bytes() == (tmp_path / "a.json").read_bytes()


def test_evaluation_is_compared_with_pycocotools(tmp_path: Path) -> None:
    comparison = measure(tmp_path / "a.json", pictures=20, runs=2, progress=lambda _: None)
    assert (len(comparison.subject_s), len(comparison.base_s)) == (2, 2)
    assert comparison.passed


def test_inference_is_compared_with_torchvision() -> None:
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    models = inference.build(
        64, resnet_arch="mobilenet", fpn_channels=32, box_head_channels=32, mask_head_channels=16
    )
    comparisons = inference.measure(models, runs=1, pictures=1, progress=lambda _: None)
    torch.set_num_threads(threads)
    assert all(len(one.subject_s) >= 1 and min(one.base_s) > 0 for one in comparisons)
    masks = comparisons[-1]
    assert masks.subject.label == "ours, 100 masks of 427 x 640"
    assert masks.passed
