"""What torch keeps of a forward pass for the backward pass, as it is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from training.maskrcnn.data.batch import Target
from training.maskrcnn.data.mask_crops import MaskCrops
from training.maskrcnn.hyperparameters import Hyperparameters
from training.maskrcnn.model.maskrcnn import MaskRCNN, build_model
from training.maskrcnn.step import AUTOCAST_TYPES


@dataclass(frozen=True)
class Saved:
    """Bytes kept; each memory counts once, and the model's own does not."""

    total: int
    of_features: int
    """Of tensors that cover the picture: (1, channels, height, width)."""


def saved_of(model: MaskRCNN, settings: Hyperparameters) -> Saved:
    """Return what is kept of one square picture, at its full side, with two objects."""
    own = {_memory(each) for each in (*model.parameters(), *model.buffers())}
    kept: dict[int, Tensor] = {}

    def keep(tensor: Tensor) -> Tensor:
        # That holds it, so that no other gets the same address.
        kept.setdefault(_memory(tensor), tensor)
        return tensor

    side = max(settings.image_short_sides)
    generator = torch.Generator().manual_seed(0)
    pixels = torch.randint(0, 256, (1, 3, side, side), generator=generator, dtype=torch.uint8)
    precision = AUTOCAST_TYPES[settings.precision]
    is_mixed = precision is not torch.float32
    with (
        torch.autograd.graph.saved_tensors_hooks(keep, lambda tensor: tensor),
        torch.autocast("cpu", dtype=precision, enabled=is_mixed),
    ):
        model(pixels, [(side, side)], [_target(side)])
    sizes = {
        address: tensor.untyped_storage().nbytes()
        for address, tensor in kept.items()
        if address not in own
    }
    of_features = sum(
        size
        for address, size in sizes.items()
        if kept[address].shape[:1] == (1,) and kept[address].ndim == 4
    )
    return Saved(sum(sizes.values()), of_features)


def new_model(settings: Hyperparameters) -> MaskRCNN:
    torch.manual_seed(0)
    model: Any = build_model(settings, categories=80, sum_over_ranks=lambda tensor: tensor)
    return model.train()


def _memory(tensor: Tensor) -> int:
    return tensor.untyped_storage().data_ptr()


def _target(side: int) -> Target:
    """Return two objects, of a quarter of the picture each."""
    half = side / 2
    boxes = torch.tensor([[0, 0, half, half], [half, half, side, side]])
    masks = torch.zeros((2, side, side), dtype=torch.uint8)
    masks[0, : side // 2, : side // 2] = 1
    masks[1, side // 2 :, side // 2 :] = 1
    return Target(
        boxes=boxes,
        labels=torch.tensor([1, 2]),
        masks=MaskCrops.cut(masks),
        crowds=torch.zeros((0, 4)),
        seed=0,
    )
