"""Pooling of proposals from the pyramid, quick on CPUs.

torchvision's kernel works out the place of every sample again for every channel, which on a CPU
takes a quarter of a training step. Here a cell is a weighted sum of rows of the features, all
channels of a place in one row: one `embedding_bag` for all levels, pictures and proposals.
The numbers are torchvision's, up to rounding.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor
from torch.nn import functional as F  # noqa: N812 (its usual name)
from torchvision.ops import MultiScaleRoIAlign, roi_align
from torchvision.ops.poolers import LevelMapper

FINEST, COARSEST = 2, 5
"""Levels of the pyramid by the logarithm of their stride."""
CANONICAL_LEVEL, CANONICAL_SIZE = 4, 224
"""A proposal of this size, in pixels, is pooled from this level (Lin et al., 2017, equation 1)."""


class PyramidRoIAlign(MultiScaleRoIAlign):
    """RoIAlign on levels `0` to `3` of the pyramid, of strides 4 to 32, or on one level `0`."""

    def __init__(
        self,
        cells: int,
        *,
        sampling_ratio: int,
        is_aligned: bool = False,
        finest: int = FINEST,
        coarsest: int = COARSEST,
    ) -> None:
        """Args:
        cells: Side of the output.
        sampling_ratio: Samples a side that a cell averages.
        is_aligned: Take a feature to stand in the middle of its place, rather than in the corner,
            and boxes of less than a place as they are.
        finest, coarsest: Logarithm of the strides of the first and the last level.
        """
        names = [str(level) for level in range(coarsest - finest + 1)]
        super().__init__(names, cells, sampling_ratio)
        self._cells = cells
        self._samples = sampling_ratio
        self._is_aligned = is_aligned
        self._finest, self._coarsest = finest, coarsest
        # Left alone, torchvision guesses them from the first batch, and wrongly where padding makes
        # half as much again of a picture.
        self.scales = [2.0**-level for level in range(finest, coarsest + 1)]
        self.map_levels = LevelMapper(finest, coarsest, CANONICAL_SIZE, CANONICAL_LEVEL)

    def forward(
        self, x: dict[str, Tensor], boxes: list[Tensor], image_shapes: list[tuple[int, int]]
    ) -> Tensor:
        """Return (R, C, cells, cells) for the R boxes of all pictures, in their order.

        It is float32 on a CPU; elsewhere of the features' type.

        Args:
            x: Features of each level, (N, C, H, W).
            boxes: (R of the picture, 4) float32, xyxy, pixels of the resized picture.
        """
        levels = [x[name] for name in self.featmap_names]
        if levels[0].device.type != "cpu":
            if self._is_aligned:
                return self._pool_aligned(levels, boxes)
            pooled: Tensor = super().forward(x, boxes, image_shapes)
            return pooled
        rows = torch.cat([level.permute(0, 2, 3, 1).flatten(0, 2) for level in levels]).float()
        with torch.no_grad():
            places, weights = self._samples_of(boxes, levels)
        cells = F.embedding_bag(places, rows, per_sample_weights=weights, mode="sum")
        return cells.view(-1, self._cells, self._cells, rows.shape[1]).permute(0, 3, 1, 2)

    def _pool_aligned(self, levels: list[Tensor], boxes: list[Tensor]) -> Tensor:
        """Pool with torchvision's kernel, which its own pooling of levels cannot align."""
        pictures = [torch.full_like(own[:, :1], index) for index, own in enumerate(boxes)]
        regions = torch.cat([torch.cat(pictures), torch.cat(boxes)], dim=1)
        level_of = self._level_of(regions[:, 1:])
        rows = [torch.where(level_of == index)[0] for index in range(len(levels))]
        parts = [
            roi_align(
                level,
                regions[own],
                self._cells,
                spatial_scale=2.0 ** -(index + self._finest),
                sampling_ratio=self._samples,
                aligned=True,
            )
            for index, (level, own) in enumerate(zip(levels, rows, strict=True))
        ]
        return torch.cat(parts)[torch.cat(rows).argsort()]

    def _samples_of(self, boxes: list[Tensor], levels: list[Tensor]) -> tuple[Tensor, Tensor]:
        """Return which rows make up each cell, and their weights: (R * cells^2, 4 * samples^2)."""
        all_boxes = torch.cat(boxes)
        picture = torch.repeat_interleave(
            torch.arange(len(boxes)), torch.tensor([len(own) for own in boxes])
        )
        level = self._level_of(all_boxes)
        heights, widths, begins = _layout(levels)
        height, width = heights[level], widths[level]
        scaled = all_boxes * torch.exp2(-(level + self._finest).float())[:, None]
        x, x_weight = self._along(scaled[:, 0], scaled[:, 2], width)
        y, y_weight = self._along(scaled[:, 1], scaled[:, 3], height)
        begin = begins[level] + picture * height * width
        # (R, cells, cells, samples and corners along y, along x)
        rows = begin[:, None, None] + y * width[:, None, None]
        places = rows[:, :, None, :, None] + x[:, None, :, None, :]
        weights = y_weight[:, :, None, :, None] * x_weight[:, None, :, None, :]
        per_cell = (2 * self._samples) ** 2
        return places.reshape(-1, per_cell), weights.reshape(-1, per_cell)

    def _level_of(self, boxes: Tensor) -> Tensor:
        """Return the index of the level that each box is pooled from: (R,) int64."""
        return level_by_size(boxes, self._finest, self._coarsest) - self._finest

    def _along(self, begin: Tensor, end: Tensor, size: Tensor) -> tuple[Tensor, Tensor]:
        """Return the places and weights of samples along one axis: (R, cells, 2 * samples).

        Args:
            begin, end: (R,) sides of the boxes, in places of their level.
            size: (R,) how many places there are.
        """
        count = self._cells * self._samples
        steps = (torch.arange(count, dtype=torch.float32) + 0.5) / count
        length = end - begin
        if self._is_aligned:
            begin = begin - 0.5
        else:
            length = length.clamp(min=1)
        at = begin[:, None] + length[:, None] * steps
        last = (size - 1)[:, None]
        is_inside = (at >= -1) & (at <= size[:, None])
        at = torch.minimum(at.clamp(min=0), last.float())
        low = at.long()
        high = torch.minimum(low + 1, last)
        high_weight = at - low
        weights = torch.stack([1 - high_weight, high_weight], dim=-1) * is_inside[..., None]
        places = torch.stack([low, high], dim=-1)
        shape = (len(begin), self._cells, 2 * self._samples)
        return places.reshape(shape), weights.reshape(shape) / self._samples


def level_by_size(boxes: Tensor, finest: int, coarsest: int) -> Tensor:
    """Return the logarithm of the stride of the level that each box is pooled from: (R,) int64.

    Args:
        boxes: (R, 4) xyxy. One of size 0, whose logarithm is -inf, belongs to the finest.
        finest, coarsest: The logarithms that there are.
    """
    size = (boxes[:, 2:] - boxes[:, :2]).prod(dim=1).sqrt()
    # A hair more, as in torchvision: a size on the border belongs to the coarser level.
    level = torch.floor(CANONICAL_LEVEL + torch.log2(size / CANONICAL_SIZE) + 1e-6)
    return level.clamp(finest, coarsest).long()


def _layout(levels: list[Tensor]) -> tuple[Tensor, Tensor, Tensor]:
    """Return each level's height, width, and first row where all levels are put together."""
    heights = [level.shape[2] for level in levels]
    widths = [level.shape[3] for level in levels]
    rows = [math.prod((level.shape[0], *level.shape[2:])) for level in levels]
    begins = [sum(rows[:index]) for index in range(len(rows))]
    return torch.tensor(heights), torch.tensor(widths), torch.tensor(begins)
