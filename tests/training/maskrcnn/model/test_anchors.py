from __future__ import annotations

import pytest
import torch
from torch import Tensor
from torchvision.models.detection.anchor_utils import AnchorGenerator
from torchvision.models.detection.image_list import ImageList

from training.maskrcnn.model.anchors import ExactAnchors

RATIOS = (0.5, 1.0, 2.0)


def images(height: int, width: int) -> ImageList:
    return ImageList(torch.zeros(2, 3, height, width), [(height, width)] * 2)


def levels(*shapes: tuple[int, int]) -> list[Tensor]:
    return [torch.zeros(2, 1, *shape) for shape in shapes]


def test_anchors_have_the_area_and_proportions_asked_for_and_stand_on_the_stride() -> None:
    sizes = (32, 64)
    first, second = ExactAnchors((sizes,), RATIOS, [16])(images(32, 48), levels((2, 3)))
    assert torch.equal(first, second)
    assert first.shape == (2 * 3 * 6, 4)
    sides = first[:, 2:] - first[:, :2]
    # Ratio by ratio, as the proposal head puts them.
    assert sides.prod(dim=1)[:6].sqrt().tolist() == pytest.approx([32, 64] * 3)
    assert (sides[:, 1] / sides[:, 0])[:6].tolist() == pytest.approx([0.5, 0.5, 1, 1, 2, 2])
    centers = ((first[:, 2:] + first[:, :2]) / 2)[::6]
    assert centers.flatten().tolist() == pytest.approx(
        [0, 0, 16, 0, 32, 0, 0, 16, 16, 16, 32, 16], abs=1e-4
    )


def test_torchvisions_anchors_are_the_same_up_to_half_a_pixel_and_its_last_stride() -> None:
    sizes = ((32,), (512,))
    maps = levels((200, 32), (13, 2))
    exact = ExactAnchors(sizes, RATIOS, [4, 64])(images(800, 128), maps)[0]
    rounded = AnchorGenerator(sizes, (RATIOS,) * 2)(images(800, 128), maps)[0]
    fine = 200 * 32 * 3
    assert (exact[:fine] - rounded[:fine]).abs().max() <= 0.5
    # The last row: 12 * 64 against 12 * (800 // 13).
    assert exact[-1, 1] + exact[-1, 3] == 2 * 12 * 64
    assert rounded[-1, 1] + rounded[-1, 3] == 2 * 12 * 61
