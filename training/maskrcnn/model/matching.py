"""Which object each anchor or proposal stands for.

torchvision's rules, without leaving the device: nothing is counted or looked up on the way.
"""

from __future__ import annotations

import torch
from torch import Tensor
from torchvision.models.detection._utils import Matcher

from training.maskrcnn.model.sampling import IGNORED


def iou(boxes: Tensor, others: Tensor) -> Tensor:
    """Return the IoU of all pairs, (B, O); torchvision's numbers in a third of its time.

    A quarter of a million anchors take long to read and write: each side of the boxes lies in one
    piece here, and results take the place of what they are made of.

    Args:
        boxes, others: (B, 4) and (O, 4) float32, xyxy.
    """
    left, top, right, bottom = boxes.T[:, :, None].unbind()
    other_left, other_top, other_right, other_bottom = others.T.contiguous()[:, None].unbind()
    width = torch.minimum(right, other_right).sub_(torch.maximum(left, other_left)).clamp_(min=0)
    height = torch.minimum(bottom, other_bottom).sub_(torch.maximum(top, other_top)).clamp_(min=0)
    intersection = width.mul_(height)
    area = (right - left) * (bottom - top)
    other_area = (other_right - other_left) * (other_bottom - other_top)
    return intersection.div_((area + other_area).sub_(intersection))


def match(objects: Tensor, boxes: Tensor, rules: Matcher) -> tuple[Tensor, Tensor]:
    """Return the object that each box overlaps most, and what the box is then: (B,) int64 each.

    What it is: 1 foreground, 0 background, IGNORED in between. Without objects, background.

    Args:
        objects: (N, 4) float32, xyxy.
        boxes: (B, 4), like objects.
        rules: From which IoU on a box is foreground, below which background, and whether the
            boxes that overlap an object most are foreground at any IoU.
    """
    if len(objects) == 0:
        nothing = torch.zeros(len(boxes), dtype=torch.int64, device=boxes.device)
        return nothing, nothing
    overlaps = iou(objects, boxes)
    best, matches = overlaps.max(dim=0)
    is_foreground = best >= rules.high_threshold
    if rules.allow_low_quality_matches:
        is_foreground |= (overlaps == overlaps.amax(dim=1, keepdim=True)).any(dim=0)
    kinds = is_foreground.long()
    return matches, torch.where(~is_foreground & (best >= rules.low_threshold), IGNORED, kinds)
