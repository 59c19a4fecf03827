"""Matches against torchvision's."""

from __future__ import annotations

import pytest
import torch
from torchvision.models.detection._utils import Matcher
from torchvision.ops import box_iou

from training.maskrcnn.model.matching import iou, match
from training.maskrcnn.model.sampling import IGNORED


def some_boxes(count: int, seed: int) -> torch.Tensor:
    generator = torch.Generator().manual_seed(seed)
    corners = torch.rand(count, 2, generator=generator) * 80
    return torch.cat([corners, corners + torch.rand(count, 2, generator=generator) * 40 + 1], dim=1)


@pytest.mark.parametrize("objects", [1, 7])
def test_overlaps_are_those_of_torchvision_to_the_bit(objects: int) -> None:
    assert torch.equal(
        iou(some_boxes(objects, 1), some_boxes(500, 2)),
        box_iou(some_boxes(objects, 1), some_boxes(500, 2)),
    )


@pytest.mark.parametrize(
    ("foreground", "background", "is_best_kept"), [(0.7, 0.3, True), (0.5, 0.5, False)]
)
def test_matches_are_those_of_torchvision(
    foreground: float, background: float, is_best_kept: bool
) -> None:
    objects, boxes = some_boxes(9, 1), some_boxes(800, 2)
    boxes = torch.cat([boxes, boxes[:100], objects[:3]])  # Equals share the best place.
    rules = Matcher(foreground, background, is_best_kept)
    theirs = rules(box_iou(objects, boxes))
    matches, kinds = match(objects, boxes, rules)
    assert torch.equal(kinds == 1, theirs >= 0)
    assert torch.equal(kinds == 0, theirs == Matcher.BELOW_LOW_THRESHOLD)
    assert torch.equal(kinds == IGNORED, theirs == Matcher.BETWEEN_THRESHOLDS)
    assert torch.equal(matches[kinds == 1], theirs[theirs >= 0])


def test_without_objects_all_is_background() -> None:
    _, kinds = match(torch.zeros(0, 4), some_boxes(5, 1), Matcher(0.7, 0.3))
    assert kinds.tolist() == [0] * 5
