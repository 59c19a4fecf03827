"""The proposal network: torchvision's, with losses as sums and counts."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor
from torchvision.models.detection.image_list import ImageList
from torchvision.models.detection.rpn import (
    RegionProposalNetwork,
    RPNHead,
    concat_box_prediction_layers,
)

from training.maskrcnn.data.batch import Target
from training.maskrcnn.model.losses import Ratio, proposal_losses
from training.maskrcnn.model.sampling import ignore_crowds, sample


class ProposalHead(RPNHead):
    """torchvision's head; what it predicts is float32 under autocast too, for box arithmetic."""

    def forward(self, features: list[Tensor]) -> tuple[list[Tensor], list[Tensor]]:
        logits, deltas = super().forward(features)
        return [level.float() for level in logits], [level.float() for level in deltas]


class ProposalNetwork(RegionProposalNetwork):
    """Finds boxes that may hold an object."""

    def forward(
        self,
        images: ImageList,
        features: dict[str, Tensor],
        targets: Sequence[Target] | None = None,
    ) -> tuple[list[Tensor], dict[str, Ratio]]:
        """Return each picture's proposals, (P, 4) xyxy, and, with targets, the losses."""
        levels = list(features.values())
        logit_levels, delta_levels = self.head(levels)
        anchors = self.anchor_generator(images, levels)
        anchors_per_level = [level[0].numel() for level in logit_levels]
        logits, deltas = concat_box_prediction_layers(logit_levels, delta_levels)
        boxes = self.box_coder.decode(deltas.detach(), anchors).view(len(anchors), -1, 4)
        proposals, _ = self.filter_proposals(boxes, logits, images.image_sizes, anchors_per_level)
        if targets is None:
            return proposals, {}
        return proposals, self._losses(logits.flatten(), deltas, anchors, targets)

    def _losses(
        self, logits: Tensor, deltas: Tensor, anchors: list[Tensor], targets: Sequence[Target]
    ) -> dict[str, Ratio]:
        truth = [{"boxes": target.boxes} for target in targets]
        labels, matched_boxes = self.assign_targets_to_anchors(anchors, truth)
        delta_targets = torch.cat(self.box_coder.encode(matched_boxes, anchors))
        foreground, background = [], []
        offset = 0
        for target, own_anchors, own_labels in zip(targets, anchors, labels, strict=True):
            chosen = sample(
                ignore_crowds(own_labels, own_anchors, target.crowds),
                size=self.fg_bg_sampler.batch_size_per_image,
                positive_fraction=self.fg_bg_sampler.positive_fraction,
                seed=target.seed,
            )
            foreground.append(chosen[0] + offset)
            background.append(chosen[1] + offset)
            offset += own_labels.numel()
        return proposal_losses(
            logits, deltas, delta_targets, torch.cat(foreground), torch.cat(background)
        )
