"""Parts of the features around a few places, as rows for a matrix product."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor


@dataclass(frozen=True)
class Places:
    """Places in the pyramids of some pictures."""

    pictures: Tensor
    """(S,) int64."""
    cells: Tensor
    """(S,) int64: level by level, row by row."""


def patches(levels: list[Tensor], places: Places, *, side: int) -> Tensor:
    """Return what a convolution of `side` x `side` sees at some places, zeros beyond the edge.

    Args:
        levels: (N, C, H, W).

    Returns:
        (S, side * side * C): row by row, each cell with all its channels.
    """
    pictures = levels[0].shape[0]
    device = places.cells.device
    first, height, width = (torch.zeros_like(places.cells) for _ in range(3))
    begin = 0
    # Numbers rather than tensors of them: a GPU is not waited for to take those over.
    for level in levels:
        level_height, level_width = level.shape[2:]
        is_here = places.cells >= begin
        first = torch.where(is_here, begin, first)
        height = torch.where(is_here, level_height, height)
        width = torch.where(is_here, level_width, width)
        begin += level_height * level_width
    inside = places.cells - first
    steps = torch.arange(side, device=device) - side // 2
    y = (inside // width)[:, None, None] + steps[:, None]
    x = (inside % width)[:, None, None] + steps
    is_inside = (y >= 0) & (y < height[:, None, None]) & (x >= 0) & (x < width[:, None, None])
    origin = first * pictures + places.pictures * height * width
    row = origin[:, None, None] + y * width[:, None, None] + x
    rows = torch.cat([level.permute(0, 2, 3, 1).flatten(0, 2) for level in levels])
    seen = rows[torch.where(is_inside, row, 0).flatten()]
    seen = torch.where(is_inside.flatten()[:, None], seen, 0)
    return seen.view(len(places.cells), side * side * rows.shape[1])
