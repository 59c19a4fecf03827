"""Targets of the mask head against torchvision's, from whole masks."""

from __future__ import annotations

import torch
from torchvision.models.detection.roi_heads import project_masks_on_boxes

from training.maskrcnn.data.mask_crops import MaskCrops
from training.maskrcnn.model.mask_targets import drawn, mask_targets

MASKS = torch.zeros((4, 50, 70), dtype=torch.uint8)
MASKS[0, 5:20, 10:31] = 1
MASKS[1, 20:50, 30:70] = 1  # Up to the corner
MASKS[2, 7, 7] = 1
BOXES = torch.tensor(
    [[8.3, 4, 33, 22.5], [25, 15.2, 70, 50], [0, 0, 70, 50], [6, 6, 9.1, 9], [1, 2, 30, 40]]
)
MATCHES = torch.tensor([0, 1, 0, 2, 3])


def test_targets_from_crops_are_those_from_whole_masks() -> None:
    theirs = project_masks_on_boxes(MASKS, BOXES, MATCHES, 28)
    ours = mask_targets(MaskCrops.cut(MASKS), BOXES, MATCHES, side=28)
    torch.testing.assert_close(ours, theirs, rtol=0, atol=1e-5)
    assert ours[4].sum() == 0  # Of an object whose mask is empty


def test_no_proposals_have_no_targets() -> None:
    none = mask_targets(MaskCrops.none(0), torch.zeros(0, 4), torch.zeros(0).long(), side=28)
    assert none.shape == (0, 28, 28)


def test_whole_masks_are_drawn_from_crops() -> None:
    assert torch.equal(drawn(MaskCrops.cut(MASKS)), MASKS.float())
    assert drawn(MaskCrops.none(0)).shape == (0, 0, 0)
