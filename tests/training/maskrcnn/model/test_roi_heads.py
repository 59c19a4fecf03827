from __future__ import annotations

from typing import Any

import pytest
import torch

from tests.training.maskrcnn.model.no_looks import NoLooks
from training.maskrcnn.data.batch import Target
from training.maskrcnn.data.mask_crops import MaskCrops
from training.maskrcnn.model.losses import mask_losses
from training.maskrcnn.model.maskrcnn import build_model
from training.maskrcnn.model.roi_heads import MaskPredictor


def predictor() -> MaskPredictor:
    torch.manual_seed(0)
    return MaskPredictor(6, 8, 5)


def test_the_mask_of_one_category_is_the_one_that_is_drawn_for_all() -> None:
    labels = torch.tensor([4, 1, 4])
    own, whole = predictor(), predictor()
    features = torch.randn(3, 6, 7, 7)
    short = own.of_labels(features, labels)
    long = whole(features)[torch.arange(3), labels]
    torch.testing.assert_close(short, long, rtol=1e-5, atol=1e-5)
    weights = torch.randn(short.shape)
    (short * weights).sum().backward()
    (long * weights).sum().backward()
    for parameter, other in zip(own.parameters(), whole.parameters(), strict=True):
        torch.testing.assert_close(parameter.grad, other.grad, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("is_mixed", [False, True])
def test_without_foreground_the_graph_is_whole(is_mixed: bool) -> None:
    own = predictor()
    with torch.autocast("cpu", torch.bfloat16, enabled=is_mixed):
        drawn = own.of_labels(torch.zeros(0, 6, 7, 7), torch.zeros(0, dtype=torch.int64))
    assert drawn.shape == (0, 14, 14)
    drawn.sum().backward()
    assert all(parameter.grad is not None for parameter in own.parameters())


def test_a_gpu_is_not_waited_for_between_proposals_and_losses(tiny: Any) -> None:
    heads = build_model(tiny(), categories=3, sum_over_ranks=lambda tensor: tensor).roi_heads
    target = Target(
        boxes=torch.tensor([[8.0, 10, 28, 30]]),
        labels=torch.tensor([2]),
        masks=MaskCrops.none(1),
        crowds=torch.tensor([[40.0, 40, 60, 60]]),
        seed=3,
    )
    proposals = torch.tensor([[9.0, 10, 28, 31], [41, 41, 55, 55], [0, 0, 9, 9]])
    with NoLooks():
        samples = heads.samples([proposals] * 2, [target] * 2)
        logits = torch.zeros(6, 4, requires_grad=True)
        deltas = torch.zeros(6, 16, requires_grad=True)
        losses = heads.box_ratios((logits, deltas), samples, [target] * 2)
        losses |= mask_losses(torch.zeros(4, 5, 5), torch.ones(4, 5, 5))
        torch.stack([ratio.sum for ratio in losses.values()]).sum().backward()
    # The crowd's proposal is left out; the true box is a proposal too.
    assert [own.foreground_count for own in samples] == [2, 2]
    assert [len(own.boxes) for own in samples] == [3, 3]
