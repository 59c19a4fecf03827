"""The choice of the anchors and proposals that the losses see.

Each picture's choice has a seed of its own: it does not depend on how pictures are spread over
ranks, so that N ranks choose what one rank with their pictures together would.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor

IGNORED = -1
"""Label of what is neither foreground nor background."""

CROWD_COVER = 0.5
"""Background that lies to this share in a crowd region is ignored: it shows objects without
annotations of their own."""


class Chosen(NamedTuple):
    """What the losses see of one picture: indices, (F,) and (B,) int64."""

    foreground: Tensor
    background: Tensor


def sample(
    labels: Sequence[Tensor], *, size: int, positive_fraction: float, seeds: Sequence[int]
) -> list[Chosen]:
    """Choose foreground and background of each picture.

    Args:
        labels: (N,) of each picture: above 0 foreground, 0 background, IGNORED never chosen.
        size: How many to choose of a picture, or all where there are fewer.
        positive_fraction: The largest share of foreground.
        seeds: Of each picture.
    """
    ordered = [
        _in_random_order(own, most_foreground=int(size * positive_fraction), most=size, seed=seed)
        for own, seed in zip(labels, seeds, strict=True)
    ]
    # The only look at what the device has found, for all pictures together: a GPU is waited for
    # once.
    counts = torch.stack([picture.counts for picture in ordered]).tolist()
    return [
        Chosen(
            picture.foreground[:foreground],
            picture.background[: min(background, size - foreground)],
        )
        for picture, (foreground, background) in zip(ordered, counts, strict=True)
    ]


class _Ordered(NamedTuple):
    foreground: Tensor
    background: Tensor
    counts: Tensor
    """(2,) int64: how many of each are what they are called; others stand behind them."""


def _in_random_order(labels: Tensor, *, most_foreground: int, most: int, seed: int) -> _Ordered:
    # Drawn on the CPU, so that each device gets the same. One key a candidate, rather than a
    # permutation of a class: a candidate more or less leaves the choice among the others alone.
    keys = torch.rand(labels.numel(), generator=torch.Generator().manual_seed(seed))
    # From pinned memory, a copy to a GPU does not wait for what it has to do before.
    keys = (keys.pin_memory() if labels.is_cuda else keys).to(labels.device, non_blocking=True)
    indices, counts = [], []
    for is_candidate, limit in ((labels > 0, most_foreground), (labels == 0, most)):
        count = min(limit, labels.numel())
        # Keys are below 1.
        chosen = torch.where(is_candidate, keys, 1).topk(count, largest=False, sorted=True)
        indices.append(chosen.indices)
        counts.append(is_candidate.sum().clamp(max=count))
    return _Ordered(indices[0], indices[1], torch.stack(counts))


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
