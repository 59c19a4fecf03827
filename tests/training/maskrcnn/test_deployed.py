"""The exported form of the model against the model, before any exporter."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from training.layout import TrainChannel
from training.maskrcnn.data.coco import read_split
from training.maskrcnn.data.dataset import EvaluationPictures
from training.maskrcnn.deployed import DeployedMaskRCNN
from training.maskrcnn.model.maskrcnn import build_model

KINDS: dict[str, dict[str, Any]] = {
    "pyramid": {},
    "group norm, all as defined": {"batch_norm": "GN", "exact_geometry": True},
    "boxes only": {"mode_mask": False},
    "no pyramid": {"mode_fpn": False, "resnet_arch": "resnet18", "anchor_sizes": [8, 16, 32]},
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("content", ["shapes", "padded", "black"])
def test_it_finds_what_the_model_finds(
    kind: str, content: str, tiny: Any, shapes: TrainChannel
) -> None:
    hyperparameters = tiny(**KINDS[kind], score_threshold=0.1)
    torch.manual_seed(3)
    model = build_model(hyperparameters, categories=4, sum_over_ranks=lambda tensor: tensor).eval()
    split = read_split(shapes, "val2017")
    _, pixels = EvaluationPictures(split.records, hyperparameters)[0]
    size = (64, 64)
    if content == "padded":
        size = (40, 61)
    elif content == "black":
        pixels = torch.zeros_like(pixels)
    deployed = DeployedMaskRCNN(model, hyperparameters, [10, 20, 30, 40])
    with torch.no_grad():
        found = deployed(pixels, torch.tensor(size))
        (expected,) = model(pixels[None], [size])
    assert len(found) == (3 if kind == "boxes only" else 4)
    boxes, labels, scores, *masks = found
    assert len(boxes) == len(expected["boxes"])
    if content == "shapes":
        assert len(boxes) > 3
    assert torch.allclose(boxes, expected["boxes"], atol=1e-3)
    assert torch.equal(labels, expected["labels"] * 10)
    assert torch.allclose(scores, expected["scores"], atol=1e-5)
    for mine, theirs in zip(masks, [expected.get("masks")], strict=False):
        assert torch.allclose(mine, theirs[:, 0], atol=1e-4)


def test_where_nothing_is_found_there_are_no_rows(tiny: Any) -> None:
    hyperparameters = tiny(score_threshold=1)
    model = build_model(hyperparameters, categories=4, sum_over_ranks=lambda tensor: tensor)
    deployed = DeployedMaskRCNN(model, hyperparameters, [1, 2, 3, 4])
    pixels = torch.zeros((3, 64, 96), dtype=torch.uint8)
    with torch.no_grad():
        found = deployed(pixels, torch.tensor([64, 96]))
    assert [tuple(one.shape) for one in found] == [(0, 4), (0,), (0,), (0, 28, 28)]
