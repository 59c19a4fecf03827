"""Anchors with `exact_geometry`.

torchvision rounds an anchor's corners to whole pixels and takes for a level's stride the quotient
of two sizes, which at stride 64 is 61 for a picture of 800 pixels. Weights that were trained with
the anchors as they are defined need them so.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor
from torchvision.models.detection.anchor_utils import AnchorGenerator
from torchvision.models.detection.image_list import ImageList


class ExactAnchors(AnchorGenerator):
    """Anchors around the corners of the cells of levels whose strides are given."""

    def __init__(
        self, sizes: tuple[tuple[int, ...], ...], ratios: tuple[float, ...], strides: Sequence[int]
    ) -> None:
        """Args:
        sizes: Of each level: square root of the area, in pixels.
        ratios: Height over width; of each size and level the same.
        strides: Of each level, in pixels.
        """
        super().__init__(sizes, (ratios,) * len(sizes))
        self._strides = tuple(strides)

    def generate_anchors(
        self,
        scales: Sequence[int],
        aspect_ratios: Sequence[float],
        dtype: torch.dtype = torch.float32,
        device: torch.device | None = None,
    ) -> Tensor:
        """Return (ratios * sizes, 4) xyxy around (0, 0), ratio by ratio, as torchvision does."""
        sizes = torch.as_tensor(scales, dtype=dtype, device=device)
        roots = torch.as_tensor(aspect_ratios, dtype=dtype, device=device).sqrt()
        widths = (sizes / roots[:, None]).flatten()
        heights = (sizes * roots[:, None]).flatten()
        return torch.stack([-widths, -heights, widths, heights], dim=1) / 2

    def forward(self, image_list: ImageList, feature_maps: list[Tensor]) -> list[Tensor]:
        """Return each picture's anchors, (A, 4) xyxy: level by level, row by row."""
        first = feature_maps[0]
        self.set_cell_anchors(first.dtype, first.device)
        strides = [
            [torch.full((), stride, dtype=torch.int64, device=first.device)] * 2
            for stride in self._strides
        ]
        anchors = torch.cat(
            self.grid_anchors([list(level.shape[-2:]) for level in feature_maps], strides)
        )
        return [anchors] * len(image_list.image_sizes)
