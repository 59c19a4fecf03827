from __future__ import annotations

from dataclasses import asdict
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor
from torchvision.ops import roi_align

from training.maskrcnn.data.mask_crops import MaskCrops
from training.maskrcnn.data.masks import draw


@st.composite
def whole_masks(draw: st.DrawFn) -> Tensor:
    """Return up to four masks: rectangles, single pixels, whole frames, nothing."""
    height, width = draw(st.integers(1, 30)), draw(st.integers(1, 30))
    masks = np.zeros((draw(st.integers(0, 4)), height, width), np.uint8)
    for mask in masks:
        top, left = draw(st.integers(0, height)), draw(st.integers(0, width))
        mask[top : draw(st.integers(top, height)), left : draw(st.integers(left, width))] = 1
    return torch.from_numpy(masks)


@given(whole_masks())
def test_cut_masks_become_the_whole_ones_again(masks: Tensor) -> None:
    cut = MaskCrops.cut(masks)
    assert len(cut) == len(masks)
    assert torch.equal(cut.whole(), masks)
    assert cut.pixels.sum() == masks.sum()
    for crop, (left, top, right, bottom) in zip(cut.crops(), cut.frames.tolist(), strict=True):
        assert tuple(crop.shape) == (bottom - top, right - left)


def test_a_crop_has_a_margin_where_the_picture_has_room_for_it() -> None:
    masks = torch.zeros((2, 20, 40), dtype=torch.uint8)
    masks[0, 5:13, 10:18] = 1
    masks[1, :3, 38:] = 1
    cut = MaskCrops.cut(masks)
    assert cut.frames.tolist() == [[9, 4, 19, 14], [37, 0, 40, 4]]
    assert cut.pixels.numel() == 100 + 12


@given(whole_masks(), st.lists(st.floats(-8, 38), min_size=4, max_size=4))
def test_pooling_from_a_crop_is_pooling_from_the_whole_mask(
    masks: Tensor, corners: list[float]
) -> None:
    x, y = sorted(corners[:2]), sorted(corners[2:])
    box = torch.tensor([[x[0], y[0], x[1], y[1]]])
    cut = MaskCrops.cut(masks)
    for mask, crop, frame in zip(masks, cut.crops(), cut.frames, strict=True):
        expected = roi_align(mask[None, None].float(), [box], (7, 7), sampling_ratio=3)
        if not crop.numel():
            assert expected.sum() == 0
            continue
        moved = box - frame[[0, 1, 0, 1]]
        pooled = roi_align(crop[None, None].float(), [moved], (7, 7), sampling_ratio=3)
        torch.testing.assert_close(pooled, expected, rtol=0, atol=1e-4)


@pytest.mark.parametrize("outline", [[[10, 4, 18, 4, 18, 12, 10, 12]], "run lengths"])
def test_mirrored_masks_are_mirrored(outline: Any) -> None:
    if outline == "run lengths":
        outline = {"size": [20, 40], "counts": [204, 8] + [12, 8] * 7 + [800 - 204 - 8 - 140]}
    plain, mirrored = (
        draw([outline], (20, 40), (30, 60), is_mirrored=turn).whole() for turn in (False, True)
    )
    assert plain.sum() == 12 * 12
    assert torch.equal(mirrored, plain.flip(2))


def test_masks_that_are_not_trained_on_are_empty() -> None:
    none = MaskCrops.none(3)
    assert (len(none), none.whole().shape) == (3, (3, 0, 0))


def test_masks_of_500_objects_take_less_than_the_pixels() -> None:
    """A crowd of small objects in a large picture: whole masks would take 533 MB."""
    random = np.random.default_rng(0)
    corners = random.uniform((0, 0), (600, 440), (500, 2))
    sides = random.uniform(8, 40, (500, 2))
    outlines = [
        [[x, y, x + w, y, x + w, y + h, x, y + h]]
        for (x, y), (w, h) in zip(corners, sides, strict=True)
    ]
    crops = draw(outlines, (480, 640), (800, 1067))
    assert len(crops) == 500
    assert crops.pixels.numel() < 3 * 800 * 1067
    expected = (sides.prod(axis=1) * (800 / 480) ** 2).sum()
    assert int(crops.pixels.sum()) == pytest.approx(expected, rel=0.02)


def test_every_tensor_is_moved() -> None:
    cut = MaskCrops.cut(torch.ones((1, 2, 2), dtype=torch.uint8))
    moved = cut.mapped(lambda tensor: tensor.to("meta"))
    tensors = [value for value in asdict(moved).values() if isinstance(value, Tensor)]
    assert {tensor.device.type for tensor in tensors} == {"meta"}
    assert len(tensors) == 2
