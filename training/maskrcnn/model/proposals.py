"""The proposal network: torchvision's, with losses as sums and counts, and a short way back.

The losses see a few hundred anchors of a picture that has a quarter of a million. So in training
the head runs over all places without gradients, which proposals do not need, and once more, with
them, at the places of the sampled anchors: losses and gradients are those of torchvision, whose
way back through the head's convolution takes a sixth of all arithmetic of a training step.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

import torch
from torch import Tensor, nn
from torch.nn import functional as F  # noqa: N812 (its usual name)
from torchvision.models.detection.image_list import ImageList
from torchvision.models.detection.rpn import (
    RegionProposalNetwork,
    RPNHead,
    concat_box_prediction_layers,
)

from training.maskrcnn.data.batch import Target
from training.maskrcnn.model.losses import Ratio, proposal_losses
from training.maskrcnn.model.patches import Places, patches
from training.maskrcnn.model.selection import ANCHOR_STREAM, select

KEPT_SIZES = 16
"""Sizes of batches whose anchors are kept, of 4 MB each at 800 x 1333."""


class ProposalHead(RPNHead):
    """torchvision's head; what it predicts is float32 under autocast too, for box arithmetic."""

    def forward(self, features: list[Tensor]) -> tuple[list[Tensor], list[Tensor]]:
        logits, deltas = super().forward(features)
        return [level.float() for level in logits], [level.float() for level in deltas]

    def at(
        self, features: list[Tensor], pictures: Tensor, anchors: Tensor
    ) -> tuple[Tensor, Tensor]:
        """Return what `forward` says of some anchors: logits (S,) and deltas (S, 4).

        Args:
            features: Levels, (N, C, H, W).
            pictures: (S,) int64.
            anchors: (S,) int64: place among the anchors of their picture.
        """
        kinds = self.cls_logits.out_channels
        convolution = cast(nn.Conv2d, self.conv[0][0])
        seen = patches(
            features, Places(pictures, anchors // kinds), side=convolution.kernel_size[0]
        )
        hidden = F.relu(_product(seen, convolution))
        logits, deltas = _product(hidden, self.cls_logits), _product(hidden, self.bbox_pred)
        row = torch.arange(len(anchors), device=anchors.device)
        kind = anchors % kinds
        return logits[row, kind], deltas.view(-1, kinds, 4)[row, kind]


def _product(rows: Tensor, convolution: nn.Conv2d) -> Tensor:
    """Return the convolution of patches of its size, (S, side * side * C), as float32."""
    weight = convolution.weight.permute(0, 2, 3, 1).flatten(1)
    # The bias apart: autocast would take the copy of it that it made without gradients.
    return F.linear(rows, weight).float() + cast(Tensor, convolution.bias)


class ProposalNetwork(RegionProposalNetwork):
    """Finds boxes that may hold an object."""

    def __init__(self, *layers: Any, **settings: Any) -> None:
        super().__init__(*layers, **settings)
        self._anchors_of: dict[tuple[Any, ...], Tensor] = {}

    def forward(
        self,
        images: ImageList,
        features: dict[str, Tensor],
        targets: Sequence[Target] | None = None,
    ) -> tuple[list[Tensor], dict[str, Ratio]]:
        """Return each picture's proposals, (P, 4) xyxy, and, with targets, the losses."""
        levels = list(features.values())
        with torch.no_grad():
            anchors = self._anchors(images, levels)
            proposals = self._proposals(images, levels, anchors)
        if targets is None:
            return proposals, {}
        return proposals, self._losses(levels, anchors, targets)

    def _anchors(self, images: ImageList, levels: list[Tensor]) -> list[Tensor]:
        """Return each picture's anchors, (A, 4) float32: those of all levels, one after the other.

        torchvision's have the type of the features; bfloat16 would move them by up to 4 pixels.
        """
        # They follow from the sizes, which come again.
        key = (images.tensors.shape[2:], *(level.shape[2:] for level in levels), levels[0].device)
        if key not in self._anchors_of:
            if len(self._anchors_of) == KEPT_SIZES:
                self._anchors_of.clear()
            # Evaluation may be the first to ask: training can use no tensors of inference mode.
            with torch.inference_mode(False):
                shapes = [
                    torch.empty((), device=level.device).expand(level.shape) for level in levels
                ]
                one = ImageList(images.tensors, images.image_sizes[:1])
                (self._anchors_of[key],) = self.anchor_generator(one, shapes)
        return [self._anchors_of[key]] * len(images.image_sizes)

    def _proposals(
        self, images: ImageList, levels: list[Tensor], anchors: list[Tensor]
    ) -> list[Tensor]:
        logit_levels, delta_levels = self.head(levels)
        anchors_per_level = [level[0].numel() for level in logit_levels]
        logits, deltas = concat_box_prediction_layers(logit_levels, delta_levels)
        boxes = self.box_coder.decode(deltas, anchors).view(len(anchors), -1, 4)
        proposals: list[Tensor]
        proposals, _ = self.filter_proposals(boxes, logits, images.image_sizes, anchors_per_level)
        return proposals

    def _losses(
        self, levels: list[Tensor], anchors: list[Tensor], targets: Sequence[Target]
    ) -> dict[str, Ratio]:
        selections = select(
            anchors,
            targets,
            rules=self.proposal_matcher,
            sampler=self.fg_bg_sampler,
            stream=ANCHOR_STREAM,
        )
        # Foreground of all pictures first.
        parts = [own.foreground for own in selections] + [own.background for own in selections]
        pictures = [torch.full_like(part, index % len(targets)) for index, part in enumerate(parts)]
        logits, deltas = self.head.at(levels, torch.cat(pictures), torch.cat(parts))
        delta_targets = torch.cat(
            [
                self.box_coder.encode_single(
                    target.boxes[own.matches[own.foreground]], own_anchors[own.foreground]
                )
                for own, own_anchors, target in zip(selections, anchors, targets, strict=True)
            ]
        )
        return proposal_losses(logits, deltas[: len(delta_targets)], delta_targets)
