from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from pycocotools import mask as coco_mask
from torchvision.models.detection.roi_heads import paste_masks_in_image

from training.maskrcnn.paste import paste

SIZE = (37, 53)


def theirs(
    probabilities: torch.Tensor, boxes: torch.Tensor, size: tuple[int, int]
) -> list[dict[str, object]]:
    drawn = paste_masks_in_image(probabilities, boxes, size)[:, 0] > 0.5
    stacked = np.asfortranarray(drawn.numpy().astype(np.uint8).transpose(1, 2, 0))
    return [
        {"size": rle["size"], "counts": rle["counts"].decode()} for rle in coco_mask.encode(stacked)
    ]


def probabilities(count: int, seed: int) -> torch.Tensor:
    generator = torch.Generator().manual_seed(seed)
    coarse = torch.rand(count, 1, 5, 5, generator=generator)
    return torch.nn.functional.interpolate(coarse, size=28, mode="bilinear")


@st.composite
def boxes_that_touch_the_frame(draw: st.DrawFn) -> list[float]:
    height, width = SIZE
    coordinate = st.floats(-60, 120, width=32)
    left = draw(st.floats(-30, width - 1, width=32))
    top = draw(st.floats(-30, height - 1, width=32))
    right, bottom = draw(coordinate), draw(coordinate)
    return [left, top, max(right, left, 0), max(bottom, top, 0)]


@given(st.lists(boxes_that_touch_the_frame(), min_size=1, max_size=6), st.integers(0, 1000))
def test_masks_are_those_of_torchvision_bit_by_bit(boxes: list[list[float]], seed: int) -> None:
    masks, corners = probabilities(len(boxes), seed), torch.tensor(boxes)
    assert paste(masks, corners, SIZE).to_coco() == theirs(masks, corners, SIZE)


@pytest.mark.parametrize(
    "box",
    [
        pytest.param([20, 10, 20.4, 10.4], id="less than a pixel"),
        pytest.param([20, 10, 21, 11], id="one pixel"),
        pytest.param([0, 0, 53, 37], id="the frame"),
        pytest.param([-3, -3, 56, 40], id="over the frame on all sides"),
        pytest.param([-4000, -3000, 5000, 2500], id="huge"),
        pytest.param([10, 0, 14, 37], id="whole columns"),
        pytest.param([0, 10, 53, 14], id="whole rows"),
        pytest.param([52, 36, 53, 37], id="last pixel"),
        pytest.param([0, 0, 1, 1], id="first pixel"),
    ],
)
@pytest.mark.parametrize("filled", [True, False])
def test_odd_boxes(box: list[float], filled: bool) -> None:
    masks = torch.ones(1, 1, 28, 28) if filled else probabilities(1, 3)
    corners = torch.tensor([box], dtype=torch.float32)
    assert paste(masks, corners, SIZE).to_coco() == theirs(masks, corners, SIZE)


@pytest.mark.parametrize("box", [[60, 5, 70, 9], [5, 50, 9, 60], [-20, 5, -10, 9], [5, -20, 9, -9]])
def test_boxes_outside_of_the_frame_have_empty_masks(box: list[float]) -> None:
    corners = torch.tensor([box], dtype=torch.float32)
    (rle,) = paste(torch.ones(1, 1, 28, 28), corners, SIZE).to_coco()
    assert rle == theirs(torch.zeros(1, 1, 28, 28), torch.zeros(1, 4), SIZE)[0]
    assert coco_mask.area(rle) == 0


def test_a_half_is_off() -> None:
    masks = torch.full((1, 1, 28, 28), 0.5)
    (rle,) = paste(masks, torch.tensor([[5.0, 5.0, 20.0, 20.0]]), SIZE).to_coco()
    assert coco_mask.area(rle) == 0


def test_no_masks() -> None:
    masks = paste(torch.zeros(0, 1, 28, 28), torch.zeros(0, 4), SIZE)
    assert masks.to_coco() == []
    assert masks.sizes.shape == (0, 2)
