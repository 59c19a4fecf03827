"""What the loader hands to the model."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Self

import torch
from torch import Tensor

from training.maskrcnn.data.mask_crops import MaskCrops

STRIDE = 32
"""Padded sizes are multiples of it: the largest stride of the backbone."""


@dataclass(frozen=True, kw_only=True)
class Target:
    """The truth of one picture, in pixels of the resized picture."""

    boxes: Tensor
    """(N, 4) float32, xyxy."""
    labels: Tensor
    """(N,) int64, from 1."""
    masks: MaskCrops
    """N; without mode_mask all are empty."""
    crowds: Tensor
    """(K, 4) float32, xyxy: regions that are not trained on."""
    seed: int
    """Of this picture's random choices in this pass over the data."""

    def mapped(self, change: Callable[[Tensor], Tensor]) -> Self:
        """Return the target with each tensor changed."""
        return replace(
            self,
            boxes=change(self.boxes),
            labels=change(self.labels),
            masks=self.masks.mapped(change),
            crowds=change(self.crowds),
        )


@dataclass(frozen=True, kw_only=True)
class Picture:
    """One resized picture."""

    pixels: Tensor
    """(3, H, W) uint8, RGB."""
    target: Target
    image_id: int
    file: str
    broken: tuple[str, ...] = ()
    """Why other pictures, in whose place this one stands, could not be used."""


@dataclass(frozen=True, kw_only=True)
class Batch:
    """The pictures of one rank in one step."""

    pixels: Tensor
    """(N, 3, H, W) uint8; each picture in the upper left corner."""
    sizes: tuple[tuple[int, int], ...]
    """Height and width of each picture without padding."""
    targets: tuple[Target, ...]
    names: tuple[str, ...]
    """Each picture's id and file, for messages."""
    broken: tuple[str, ...]

    def mapped(self, change: Callable[[Tensor], Tensor]) -> Self:
        """Return the batch with each tensor changed."""
        return replace(
            self,
            pixels=change(self.pixels),
            targets=tuple(target.mapped(change) for target in self.targets),
        )

    def to(self, device: torch.device) -> Self:
        return self.mapped(lambda tensor: tensor.to(device, non_blocking=True))

    def pin_memory(self) -> Self:
        """Return the batch in memory from which it is copied while the GPU computes."""
        return self.mapped(Tensor.pin_memory)


def collate(pictures: list[Picture], *, multiple: int = STRIDE) -> Batch:
    """Put pictures of different sizes into one batch, padded at the right and the bottom.

    Args:
        multiple: Of which the batch's height and width are, in pixels.
    """
    sizes = tuple((picture.pixels.shape[1], picture.pixels.shape[2]) for picture in pictures)
    height, width = (-(-max(sides) // multiple) * multiple for sides in zip(*sizes, strict=True))
    pixels = torch.zeros((len(pictures), 3, height, width), dtype=torch.uint8)
    for index, (picture, size) in enumerate(zip(pictures, sizes, strict=True)):
        pixels[index, :, : size[0], : size[1]] = picture.pixels
    return Batch(
        pixels=pixels,
        sizes=sizes,
        targets=tuple(picture.target for picture in pictures),
        names=tuple(f"{picture.image_id} ({picture.file})" for picture in pictures),
        broken=tuple(reason for picture in pictures for reason in picture.broken),
    )
