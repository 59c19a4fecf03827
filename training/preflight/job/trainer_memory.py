"""How much GPU memory the first-party trainer takes, worked out without torch.

In memory at the end of a forward pass are weights and the optimizer's state (float32), and every
tensor that the backward pass will read. The last grow with the picture, and are summed up here:

- Backbone: `BACKBONES`, values for each pixel of the input, measured.
- Pyramid: what the 3x3 convolution of each level reads; with group norm, what the norms of its two
  layers read too. Levels have 1/16, 1/64, 1/256 and 1/1024 of the pixels. The proposal head trains
  on sampled patches, which are few.
- Box head: of each proposal that is sampled its pooled features and two hidden layers.
- Mask head: of each sampled foreground proposal its pooled features, the hidden layers, and one of
  twice their side.

tests/training/preflight/job/test_trainer_memory.py compares this with the tensors that torch saves
in real forward passes.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil

from training.maskrcnn.hyperparameters import Hyperparameters

LEVELS = 1 / 16 + 1 / 64 + 1 / 256 + 1 / 1024
"""Pixels of the levels of strides 4 to 32 together, as a share of the input's."""

BOX_PIXELS, MASK_PIXELS = 7 * 7, 14 * 14
"""That each proposal's features are pooled to, for the two heads."""

BYTES = {"fp32": 4, "bf16": 2, "fp16": 2}
"""Of a value that is kept for the backward pass. Some stay float32 in mixed precision: then this
is less than is kept."""

STATES = {"sgd": 1, "lars": 1, "adamw": 2}
"""Values that the optimizer keeps of each trained weight."""


@dataclass(frozen=True)
class Backbone:
    """What a backbone keeps and has, by how many of its stages are trained, from none to five.

    Measured with `torch.autograd.graph.saved_tensors_hooks`, as the growth of the saved bytes from
    a picture of 256 pixels a side to one of 512.
    """

    folded: tuple[float, ...]
    """Values kept for each pixel of the input; batch norm frozen, and folded away."""
    normalized: tuple[float, ...]
    """The same with group norm or batch norm, which keep what they read."""
    weights: int
    trained: tuple[int, ...]
    """Weights that are trained; batch norm frozen."""
    channels: tuple[int, int, int, int]
    """Of the features that the pyramid reads."""


BACKBONES = {
    "resnet18": Backbone(
        folded=(0, 3, 8, 18, 34, 61),
        normalized=(0, 5.5, 15.5, 35.5, 67.5, 110.5),
        weights=11_166_912,
        trained=(0, 8_388_608, 10_485_760, 11_010_048, 11_157_504, 11_166_912),
        channels=(64, 128, 256, 512),
    ),
    "resnet50": Backbone(
        folded=(0, 14.5, 57.5, 119.5, 179.5, 206.5),
        normalized=(0, 27, 113, 237, 385, 428),
        weights=23_454_912,
        trained=(0, 14_942_208, 22_020_096, 23_232_512, 23_445_504, 23_454_912),
        channels=(256, 512, 1024, 2048),
    ),
    "resnet101": Backbone(
        folded=(0, 14.5, 159.5, 221.5, 281.5, 308.5),
        normalized=(0, 27, 317, 441, 589, 632),
        weights=42_394_816,
        trained=(0, 14_942_208, 40_960_000, 42_172_416, 42_385_408, 42_394_816),
        channels=(256, 512, 1024, 2048),
    ),
}
"""`mobilenet`, for trials on CPUs, is not among them."""


@dataclass(frozen=True)
class TrainerMemory:
    """Bytes of one GPU that runs one rank."""

    fixed: int
    """Weights and the optimizer's state."""
    gradients: int
    """Of all trained weights: they come while the kept tensors go."""
    smallest_picture: int
    """Kept of a square picture at its full short side, without the heads, whose proposals may be
    few: no batch of that side has less for each picture."""
    largest_picture: int
    """Kept of one that is as long as `image_max_side`, with as many masks as are sampled."""

    def at_least(self, batch: int) -> int:
        """Return what a batch takes in any case; what kernels need besides is not in it."""
        return self.fixed + batch * self.smallest_picture

    def at_most(self, batch: int) -> int:
        """Return what it may take: the largest pictures, and all gradients at the same time."""
        return self.fixed + self.gradients + batch * self.largest_picture

    def batch_for(self, memory: int) -> int:
        """Return the largest batch that such a GPU has room for by `at_most`; 0 where none is."""
        return max(0, (memory - self.fixed - self.gradients) // self.largest_picture)


def trainer_memory(settings: Hyperparameters) -> TrainerMemory | None:
    """Return what the trainer takes; None where nothing was measured.

    That is so for `mobilenet`, without a pyramid, and with `compile`, which decides itself what it
    keeps.
    """
    backbone = BACKBONES.get(settings.resnet_arch)
    if backbone is None or not settings.mode_fpn or settings.compile:
        return None
    stages = _trained_stages(settings)
    heads = _weights_of_heads(settings, backbone)
    trained = backbone.trained[stages] + heads
    kept = backbone.folded if settings.batch_norm == "FreezeBN" else backbone.normalized
    of_pyramid = 3 if settings.batch_norm == "GN" else 1
    each_pixel = kept[stages] + of_pyramid * LEVELS * settings.fpn_channels
    boxes, masks = _kept_of_boxes(settings), _kept_of_masks(settings)
    largest = max(settings.image_short_sides)
    # Of a range the largest may never be drawn.
    side = largest if settings.short_side_sampling == "choice" else settings.image_short_sides[0]
    size = BYTES[settings.precision]
    return TrainerMemory(
        fixed=4 * (backbone.weights + heads + STATES[settings.optimizer] * trained),
        gradients=4 * trained,
        smallest_picture=round(_pixels(settings, side, side) * each_pixel * size),
        largest_picture=round(
            (_pixels(settings, largest, settings.image_max_side) * each_pixel + boxes + masks)
            * size
        ),
    )


def _trained_stages(settings: Hyperparameters) -> int:
    """Return the same as `training.maskrcnn.model.backbone.trainable_stages`, which needs torch."""
    if settings.trainable_backbone_layers is not None:
        return settings.trainable_backbone_layers
    return 5 if settings.backbone_weights is None else 3


def _pixels(settings: Hyperparameters, *sides: int) -> int:
    """Return the pixels of a picture with its padding."""
    multiple = settings.padding_multiple
    height, width = (ceil(side / multiple) * multiple for side in sides)
    return height * width


def _kept_of_boxes(settings: Hyperparameters) -> int:
    each = settings.fpn_channels * BOX_PIXELS + 2 * settings.box_head_channels
    return settings.roi_batch_per_image * each


def _kept_of_masks(settings: Hyperparameters) -> int:
    if not settings.mode_mask:
        return 0
    hidden = settings.mask_head_channels * MASK_PIXELS
    # The layer of twice the side has four times the pixels.
    each = settings.fpn_channels * MASK_PIXELS + (settings.mask_head_layers + 4) * hidden
    return settings.roi_batch_per_image // 4 * each


def _weights_of_heads(settings: Hyperparameters, backbone: Backbone) -> int:
    """Return the weights of all but the backbone; biases and the last layers left out."""
    c, box, mask = settings.fpn_channels, settings.box_head_channels, settings.mask_head_channels
    pyramid = c * sum(backbone.channels) + 4 * 9 * c * c
    proposals = 9 * c * c
    boxes = BOX_PIXELS * c * box + box * box
    masks = 9 * mask * (c + (settings.mask_head_layers - 1) * mask) + 4 * mask * mask
    return pyramid + proposals + boxes + (masks if settings.mode_mask else 0)
