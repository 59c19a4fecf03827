"""What the loader hands to the model."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Self

import torch
from torch import Tensor

STRIDE = 32
"""Padded sizes are multiples of it: the largest stride of the backbone."""


@dataclass(frozen=True, kw_only=True)
class Target:
    """The truth of one picture, in pixels of the resized picture."""

    boxes: Tensor
    """(N, 4) float32, xyxy."""
    labels: Tensor
    """(N,) int64, from 1."""
    masks: Tensor
    """(N, H, W) uint8, 0 or 1, of the picture without padding."""
    crowds: Tensor
    """(K, 4) float32, xyxy: regions that are not trained on."""
    seed: int
    """Of this picture's random choices in this pass over the data."""

    def to(self, device: torch.device) -> Self:
        return replace(
            self,
            boxes=self.boxes.to(device, non_blocking=True),
            labels=self.labels.to(device, non_blocking=True),
            masks=self.masks.to(device, non_blocking=True),
            crowds=self.crowds.to(device, non_blocking=True),
        )


@dataclass(frozen=True, kw_only=True)
class Picture:
    """One resized picture."""

    pixels: Tensor
    """(3, H, W) uint8, RGB."""
    target: Target
    image_id: int
    file: str
    original_size: tuple[int, int]
    """Height and width before resizing."""
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

    def to(self, device: torch.device) -> Self:
        return replace(
            self,
            pixels=self.pixels.to(device, non_blocking=True),
            targets=tuple(target.to(device) for target in self.targets),
        )


def collate(pictures: list[Picture]) -> Batch:
    """Put pictures of different sizes into one batch, padded at the right and the bottom."""
    sizes = tuple((picture.pixels.shape[1], picture.pixels.shape[2]) for picture in pictures)
    height, width = (-(-max(sides) // STRIDE) * STRIDE for sides in zip(*sizes, strict=True))
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
