"""The choice of the anchors and proposals that the losses see.

Each picture's choice has a seed of its own: it does not depend on how pictures are spread over
ranks, so that N ranks choose what one rank with their pictures together would.
"""

from __future__ import annotations

import torch
from torch import Tensor

IGNORED = -1
"""Label of what is neither foreground nor background."""

CROWD_COVER = 0.5
"""Background that lies to this share in a crowd region is ignored: it shows objects without
annotations of their own."""


def sample(
    labels: Tensor, *, size: int, positive_fraction: float, seed: int
) -> tuple[Tensor, Tensor]:
    """Choose foreground and background of one picture.

    Args:
        labels: (N,): above 0 foreground, 0 background, IGNORED never chosen.
        size: How many to choose, or all where there are fewer.
        positive_fraction: The largest share of foreground.

    Returns:
        Indices of the chosen foreground and of the chosen background.
    """
    # Drawn on the CPU, so that each device gets the same. One key a candidate, rather than a
    # permutation of a class: a candidate more or less leaves the choice among the others alone.
    keys = torch.rand(labels.numel(), generator=torch.Generator().manual_seed(seed))
    keys = keys.to(labels.device)
    foreground = _smallest(keys, torch.where(labels > 0)[0], int(size * positive_fraction))
    background = _smallest(keys, torch.where(labels == 0)[0], size - foreground.numel())
    return foreground, background


def _smallest(keys: Tensor, candidates: Tensor, count: int) -> Tensor:
    if candidates.numel() <= count:
        return candidates
    order = keys[candidates].topk(count, largest=False).indices
    return candidates[order]


def ignore_crowds(labels: Tensor, boxes: Tensor, crowds: Tensor) -> Tensor:
    """Return the labels with background inside crowd regions ignored.

    Args:
        labels: (N,).
        boxes: (N, 4) float32, xyxy, pixels: what the labels belong to.
        crowds: (K, 4), like boxes.
    """
    if crowds.numel() == 0:
        return labels
    corner = torch.maximum(boxes[:, None, :2], crowds[None, :, :2])
    opposite = torch.minimum(boxes[:, None, 2:], crowds[None, :, 2:])
    overlap = (opposite - corner).clamp(min=0).prod(dim=2)
    area = (boxes[:, 2:] - boxes[:, :2]).prod(dim=1).clamp(min=1e-6)
    covered = (overlap / area[:, None]).amax(dim=1) >= CROWD_COVER
    return torch.where(covered & (labels == 0), torch.full_like(labels, IGNORED), labels)
