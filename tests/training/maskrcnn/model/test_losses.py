"""Our sums over counts against torchvision's own losses."""

from __future__ import annotations

import pytest
import torch
from torchvision.models.detection.roi_heads import fastrcnn_loss, maskrcnn_loss

from training.maskrcnn.model.losses import Ratio, box_losses, mask_losses, proposal_losses

RANDOM = torch.Generator().manual_seed(2)


def normal(*shape: int) -> torch.Tensor:
    return torch.randn(shape, generator=RANDOM)


def value(ratio: Ratio) -> float:
    return float(ratio.sum / ratio.count)


def test_box_losses_are_those_of_torchvision() -> None:
    labels = torch.tensor([2, 0, 1, 0, 0, 3])
    logits, deltas, targets = normal(6, 4), normal(6, 16), normal(6, 4)
    label_loss, box_loss = fastrcnn_loss(logits, deltas, [labels], [targets])
    ours = box_losses(logits, deltas, labels, targets, pictures=1)
    assert value(ours["fastrcnn_losses/label_loss"]) == pytest.approx(float(label_loss))
    assert value(ours["fastrcnn_losses/box_loss"]) == pytest.approx(float(box_loss))


def test_mask_loss_is_that_of_torchvision() -> None:
    masks = torch.zeros((2, 40, 40), dtype=torch.uint8)
    masks[0, 5:20, 5:20] = 1
    masks[1, 10:30, 10:15] = 1
    # Each box is its whole mask's cell grid: 40 pixels on 8 cells.
    boxes = torch.tensor([[0.0, 0, 40, 40], [0, 0, 40, 40]])
    logits, labels = normal(2, 4, 8, 8), torch.tensor([3, 1])
    theirs = maskrcnn_loss(logits, [boxes], [masks], [labels], [torch.tensor([0, 1])])
    targets = torch.nn.functional.avg_pool2d(masks[:, None].float(), 5)[:, 0]
    own_logits = logits[torch.arange(2), labels]
    ours = mask_losses(own_logits, targets)["maskrcnn_loss/maskrcnn_loss"]
    # roi_align takes four samples a cell where the pool averages all 25 pixels.
    assert value(ours) == pytest.approx(float(theirs), rel=0.02)
    assert ours.count == 2 * 8 * 8


def test_proposal_losses_divide_by_all_samples() -> None:
    logits, deltas, targets = normal(5), normal(2, 4), normal(2, 4)
    ours = proposal_losses(logits, deltas, targets)
    truth = torch.tensor([1.0, 1, 0, 0, 0])
    label_loss = torch.nn.functional.binary_cross_entropy_with_logits(logits, truth)
    box_loss = torch.nn.functional.smooth_l1_loss(deltas, targets, beta=1 / 9, reduction="sum")
    assert value(ours["rpn_losses/label_loss"]) == pytest.approx(float(label_loss))
    assert value(ours["rpn_losses/box_loss"]) == pytest.approx(float(box_loss) / 5)


def test_label_metrics_count_what_their_names_say() -> None:
    labels = torch.tensor([1, 1, 2, 0])
    guesses = torch.tensor([1, 0, 1, 0])
    logits = torch.nn.functional.one_hot(guesses, 3).float()
    ours = box_losses(logits, normal(4, 12), labels, normal(4, 4), pictures=2)
    metrics = "fastrcnn_losses/label_metrics"
    assert value(ours[f"{metrics}/accuracy"]) == 2 / 4
    assert value(ours[f"{metrics}/false_negative"]) == pytest.approx(1 / 3)
    assert value(ours[f"{metrics}/fg_accuracy"]) == pytest.approx(1 / 3)
    assert value(ours["fastrcnn_losses/num_fg_label"]) == 3 / 2


def test_mask_metrics_count_what_their_names_say() -> None:
    targets = torch.tensor([[[1.0, 0.9], [0.0, 0.2]]])
    logits = torch.tensor([[[3.0, -1], [2, -2]]])
    ours = mask_losses(logits, targets)
    assert value(ours["maskrcnn_loss/accuracy"]) == 2 / 4
    assert value(ours["maskrcnn_loss/pos_accuracy"]) == 1 / 2
    assert value(ours["maskrcnn_loss/fg_pixel_ratio"]) == 2 / 4
