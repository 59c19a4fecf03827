"""Which anchors or proposals the losses see, and of which objects."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor
from torchvision.models.detection._utils import BalancedPositiveNegativeSampler, Matcher

from training.maskrcnn.data.batch import Target
from training.maskrcnn.model.matching import match
from training.maskrcnn.model.sampling import ignore_crowds, sample

ANCHOR_STREAM, PROPOSAL_STREAM = 0, 1
"""Streams of a picture's random numbers."""


class Selection(NamedTuple):
    """Of one picture with N boxes, all int64."""

    foreground: Tensor
    """(F,) indices."""
    background: Tensor
    """(B,) indices."""
    matches: Tensor
    """(N,) index of the object that each box overlaps most; any where there is none."""


@torch.no_grad()
def select(
    boxes: Sequence[Tensor],
    targets: Sequence[Target],
    *,
    rules: Matcher,
    sampler: BalancedPositiveNegativeSampler,
    stream: int,
) -> list[Selection]:
    """Match the boxes of each picture to its objects, and choose from them.

    Args:
        boxes: (N, 4) float32 of each picture, xyxy.
        rules: See `match`.
        sampler: Only its numbers count.
        stream: One of the above.
    """
    matches = [match(target.boxes, own, rules) for own, target in zip(boxes, targets, strict=True)]
    chosen = sample(
        [
            ignore_crowds(kinds, own, target.crowds)
            for (_, kinds), own, target in zip(matches, boxes, targets, strict=True)
        ],
        size=sampler.batch_size_per_image,
        positive_fraction=sampler.positive_fraction,
        seeds=[target.seed + stream for target in targets],
    )
    return [
        Selection(foreground, background, own)
        for (foreground, background), (own, _) in zip(chosen, matches, strict=True)
    ]
