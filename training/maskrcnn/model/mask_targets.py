"""What the mask head is to draw: each object's mask, as its proposals cut it out."""

from __future__ import annotations

import torch
from torch import Tensor
from torchvision.ops import roi_align

from training.maskrcnn.data.mask_crops import MaskCrops


def mask_targets(masks: MaskCrops, boxes: Tensor, matches: Tensor, *, side: int) -> Tensor:
    """Return the share of each cell that the object covers: (F, side, side) float32.

    Args:
        masks: Of the N objects of a picture.
        boxes: (F, 4) float32, xyxy, pixels: proposals.
        matches: (F,) int64: the object of each.
    """
    if boxes.device.type == "cpu":
        return _from_crops(masks, boxes, matches, side)
    # One kernel for all objects, and nothing that the GPU has to be waited for.
    whole = drawn(masks)[:, None]
    targets: Tensor = roi_align(whole, torch.cat([matches[:, None].to(boxes), boxes], dim=1), side)[
        :, 0
    ]
    return targets


def _from_crops(masks: MaskCrops, boxes: Tensor, matches: Tensor, side: int) -> Tensor:
    """Return the same without whole masks: those of 500 objects take 2 GB as float32."""
    targets = boxes.new_zeros((len(boxes), side, side))
    frames, crops = masks.frames.tolist(), masks.crops()
    for number in set(matches.tolist()):
        if crops[number].numel() == 0:
            continue
        own = torch.where(matches == number)[0]
        left, top, _, _ = frames[number]
        shift = boxes.new_tensor([left, top, left, top])
        crop = crops[number][None, None].float()
        targets[own] = roi_align(crop, [boxes[own] - shift], side)[:, 0]
    return targets


def drawn(masks: MaskCrops) -> Tensor:
    """Return whole masks, (N, H, W) float32, without a look at what the tensors hold."""
    sizes = masks.frames[:, 2:] - masks.frames[:, :2]
    counts = sizes.prod(dim=1)
    device = counts.device
    count = masks.pixels.numel()
    owner = torch.repeat_interleave(
        torch.arange(len(masks), device=device), counts, output_size=count
    )
    place = torch.arange(count, device=device) - (counts.cumsum(0) - counts)[owner]
    width = sizes[owner, 0]
    y, x = masks.frames[owner, 1] + place // width, masks.frames[owner, 0] + place % width
    whole = torch.zeros((len(masks), *masks.size), device=device)
    whole[owner, y, x] = masks.pixels.float()
    return whole
