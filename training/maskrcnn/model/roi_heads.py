"""The box and mask heads: torchvision's, with losses as sums and counts.

In evaluation they are torchvision's own; only the training differs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor
from torchvision.models.detection.faster_rcnn import FastRCNNPredictor
from torchvision.models.detection.mask_rcnn import MaskRCNNPredictor
from torchvision.models.detection.roi_heads import RoIHeads, project_masks_on_boxes

from training.maskrcnn.data.batch import Target
from training.maskrcnn.model.losses import Ratio, box_losses, mask_losses
from training.maskrcnn.model.sampling import ignore_crowds, sample


class BoxPredictor(FastRCNNPredictor):
    """torchvision's; float32 under autocast too."""

    def forward(self, features: Tensor) -> tuple[Tensor, Tensor]:
        logits, deltas = super().forward(features)
        return logits.float(), deltas.float()


class MaskPredictor(MaskRCNNPredictor):
    """torchvision's; float32 under autocast too."""

    def forward(self, features: Tensor) -> Tensor:
        logits: Tensor = super().forward(features)
        return logits.float()


@dataclass(frozen=True)
class Sample:
    """The proposals of one picture that the losses see, foreground first."""

    boxes: Tensor
    """(R, 4) float32, xyxy."""
    labels: Tensor
    """(R,) int64; 0 is background."""
    matches: Tensor
    """(R,) int64: index of the true object; without meaning for background."""
    foreground_count: int


class Heads(RoIHeads):
    """Classifies proposals, corrects their boxes and draws their masks."""

    def training_ratios(
        self,
        features: dict[str, Tensor],
        proposals: Sequence[Tensor],
        image_sizes: list[tuple[int, int]],
        targets: Sequence[Target],
    ) -> dict[str, Ratio]:
        """Return losses and label metrics."""
        with torch.no_grad():
            samples = [
                self._sample(boxes, target)
                for boxes, target in zip(proposals, targets, strict=True)
            ]
        return {
            **self._box_ratios(features, samples, image_sizes, targets),
            **self._mask_ratios(features, samples, image_sizes, targets),
        }

    def _sample(self, proposals: Tensor, target: Target) -> Sample:
        """Match one picture's proposals and true boxes to its objects, and choose from them."""
        boxes = torch.cat([proposals, target.boxes])
        matches, labels = self.assign_targets_to_proposals([boxes], [target.boxes], [target.labels])
        foreground, background = sample(
            ignore_crowds(labels[0], boxes, target.crowds),
            size=self.fg_bg_sampler.batch_size_per_image,
            positive_fraction=self.fg_bg_sampler.positive_fraction,
            # Another stream than that of the anchors.
            seed=target.seed + 1,
        )
        chosen = torch.cat([foreground, background])
        return Sample(boxes[chosen], labels[0][chosen], matches[0][chosen], foreground.numel())

    def _box_ratios(
        self,
        features: dict[str, Tensor],
        samples: Sequence[Sample],
        image_sizes: list[tuple[int, int]],
        targets: Sequence[Target],
    ) -> dict[str, Ratio]:
        boxes = [sample.boxes for sample in samples]
        pooled = self.box_roi_pool(features, boxes, image_sizes)
        logits, deltas = self.box_predictor(self.box_head(pooled))
        delta_targets = self.box_coder.encode(
            [
                _matched_boxes(sample, target)
                for sample, target in zip(samples, targets, strict=True)
            ],
            boxes,
        )
        return box_losses(
            logits,
            deltas,
            torch.cat([sample.labels for sample in samples]),
            torch.cat(delta_targets),
            pictures=len(samples),
        )

    def _mask_ratios(
        self,
        features: dict[str, Tensor],
        samples: Sequence[Sample],
        image_sizes: list[tuple[int, int]],
        targets: Sequence[Target],
    ) -> dict[str, Ratio]:
        boxes = [sample.boxes[: sample.foreground_count] for sample in samples]
        # Without foreground the batch is empty, but the graph is whole: gradients are zero, and
        # the other ranks do not wait for them in vain.
        pooled = self.mask_roi_pool(features, boxes, image_sizes)
        logits = self.mask_predictor(self.mask_head(pooled))
        mask_targets = [
            project_masks_on_boxes(
                target.masks, own_boxes, sample.matches[: sample.foreground_count], logits.shape[-1]
            )
            for own_boxes, sample, target in zip(boxes, samples, targets, strict=True)
        ]
        labels = [sample.labels[: sample.foreground_count] for sample in samples]
        return mask_losses(logits, torch.cat(labels), torch.cat(mask_targets))


def _matched_boxes(sample: Sample, target: Target) -> Tensor:
    """Return the true box of each proposal, (R, 4); any box where the picture has no object."""
    if target.boxes.numel() == 0:
        return sample.boxes
    return target.boxes[sample.matches]
