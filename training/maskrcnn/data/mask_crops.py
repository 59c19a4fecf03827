"""The masks of one picture, each cut to what its object reaches.

Whole masks of a picture of 800 x 1333 with 500 objects take half a gigabyte, nearly all of it
zeros, which a worker would draw, hand over and copy to the GPU. The crops of COCO's pictures take
less than the pixels.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Self

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

MARGIN = 1
"""Pixels of zeros around an object, where the picture has room for them: a sample that is taken
between two pixels of a whole mask then finds the same two in the crop."""


@dataclass(frozen=True, kw_only=True)
class MaskCrops:
    """N masks; each is 0 outside its crop."""

    pixels: Tensor
    """(P,) uint8, 0 or 1: the crops one after the other, each row by row."""
    frames: Tensor
    """(N, 4) int64, xyxy: where each crop lies in the picture; without area where nothing is."""
    size: tuple[int, int]
    """Height and width of the picture."""

    @classmethod
    def none(cls, count: int) -> Self:
        """Return as many empty masks, of a picture whose masks are not trained on."""
        return cls.joined([np.zeros((0, 0), np.uint8)] * count, [(0, 0, 0, 0)] * count, (0, 0))

    @classmethod
    def joined(
        cls,
        crops: Sequence[NDArray[np.uint8]],
        frames: Sequence[tuple[int, int, int, int]],
        size: tuple[int, int],
    ) -> Self:
        """Put crops together, each of the height and width of its frame."""
        flat = [crop.ravel() for crop in crops]
        return cls(
            pixels=torch.from_numpy(np.concatenate([np.empty(0, np.uint8), *flat])),
            frames=torch.tensor(frames, dtype=torch.int64).reshape(-1, 4),
            size=size,
        )

    @classmethod
    def cut(cls, masks: Tensor) -> Self:
        """Cut whole masks, (N, H, W) uint8, to what they hold."""
        frames = [frame_around(mask) for mask in masks.numpy()]
        crops = [
            mask[top:bottom, left:right]
            for mask, (left, top, right, bottom) in zip(masks.numpy(), frames, strict=True)
        ]
        return cls.joined(crops, frames, (masks.shape[1], masks.shape[2]))

    def __len__(self) -> int:
        return len(self.frames)

    def crops(self) -> tuple[Tensor, ...]:
        """Return the N crops, (height, width) uint8 each: views of `pixels`."""
        sides = (self.frames[:, 2:] - self.frames[:, :2]).tolist()
        parts = torch.split(self.pixels, [width * height for width, height in sides])
        return tuple(
            part.view(height, width) for part, (width, height) in zip(parts, sides, strict=True)
        )

    def whole(self) -> Tensor:
        """Return the masks at the picture's size: (N, H, W) uint8."""
        masks = self.pixels.new_zeros((len(self), *self.size))
        frames = self.frames.tolist()
        for mask, crop, (left, top, right, bottom) in zip(masks, self.crops(), frames, strict=True):
            mask[top:bottom, left:right] = crop
        return masks

    def mapped(self, change: Callable[[Tensor], Tensor]) -> Self:
        """Return the masks with each tensor changed: moved to a device, for example."""
        return replace(self, pixels=change(self.pixels), frames=change(self.frames))


def frame_around(mask: NDArray[np.uint8]) -> tuple[int, int, int, int]:
    """Return the frame, xyxy, of what a mask holds, with its margin; zeros where it is empty."""
    rows, columns = np.flatnonzero(mask.any(axis=1)), np.flatnonzero(mask.any(axis=0))
    if not rows.size:
        return (0, 0, 0, 0)
    box = (int(columns[0]), int(rows[0]), int(columns[-1]) + 1, int(rows[-1]) + 1)
    return with_margin(box, mask.shape)


def with_margin(box: tuple[int, int, int, int], size: tuple[int, ...]) -> tuple[int, int, int, int]:
    """Return a box, xyxy, grown by the margin and cut at the picture of height and width `size`."""
    left, top, right, bottom = box
    return (
        max(left - MARGIN, 0),
        max(top - MARGIN, 0),
        min(right + MARGIN, size[1]),
        min(bottom + MARGIN, size[0]),
    )
