"""The box and mask heads: torchvision's, with losses as sums and counts.

In evaluation they are torchvision's own; only the training differs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import cast

import torch
from torch import Tensor
from torchvision.models.detection.faster_rcnn import FastRCNNPredictor
from torchvision.models.detection.mask_rcnn import MaskRCNNPredictor
from torchvision.models.detection.roi_heads import RoIHeads

from training.maskrcnn.data.batch import Target
from training.maskrcnn.model.losses import Ratio, box_losses, mask_losses
from training.maskrcnn.model.mask_targets import mask_targets
from training.maskrcnn.model.selection import PROPOSAL_STREAM, Selection, select


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

    def of_labels(self, features: Tensor, labels: Tensor) -> Tensor:
        """Return what `forward` draws for one category of each proposal: (F, M, M).

        The loss sees no other: the last layer is a dot product, not one for each category.

        Args:
            features: (F, C, M / 2, M / 2).
            labels: (F,) int64.
        """
        hidden = self.relu(self.conv5_mask(features))
        outputs = self.mask_fcn_logits
        drawn = torch.einsum("fchw,fc->fhw", hidden, outputs.weight[labels].flatten(1))
        return drawn.float() + cast(Tensor, outputs.bias)[labels][:, None, None]


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
    """Classifies proposals, corrects their boxes and, with a mask head, draws their masks."""

    def training_ratios(
        self,
        features: dict[str, Tensor],
        samples: Sequence[Sample],
        image_sizes: list[tuple[int, int]],
        targets: Sequence[Target],
    ) -> dict[str, Ratio]:
        """Return losses and label metrics."""
        pooled = self.box_roi_pool(features, [sample.boxes for sample in samples], image_sizes)
        ratios = self.box_ratios(self.box_predictor(self.box_head(pooled)), samples, targets)
        if self.has_mask():
            # Without foreground the batch is empty, but the graph is whole: gradients are zero,
            # and the other ranks do not wait for them in vain.
            boxes = [sample.boxes[: sample.foreground_count] for sample in samples]
            pooled = self.mask_roi_pool(features, boxes, image_sizes)
            ratios |= self.mask_ratios(self.mask_head(pooled), samples, targets)
        return ratios

    @torch.no_grad()
    def samples(self, proposals: Sequence[Tensor], targets: Sequence[Target]) -> list[Sample]:
        """Match proposals and true boxes to objects, and choose what the losses see of them."""
        boxes = [
            torch.cat([own, target.boxes]) for own, target in zip(proposals, targets, strict=True)
        ]
        selections = select(
            boxes,
            targets,
            rules=self.proposal_matcher,
            sampler=self.fg_bg_sampler,
            stream=PROPOSAL_STREAM,
        )
        return [
            _make_sample(own, target, selection)
            for own, target, selection in zip(boxes, targets, selections, strict=True)
        ]

    @property
    def mask_side(self) -> int:
        """Of what is drawn of an object: twice that of what the mask head gets."""
        return 2 * int(self.mask_roi_pool.output_size[0])

    def loss_counts(self, samples: Sequence[Sample]) -> dict[str, float]:
        """Return what divides each loss of `training_ratios`."""
        count = float(sum(len(sample.labels) for sample in samples))
        counts = {"fastrcnn_losses/label_loss": count, "fastrcnn_losses/box_loss": count}
        if self.has_mask():
            drawn = sum(sample.foreground_count for sample in samples)
            counts["maskrcnn_loss/maskrcnn_loss"] = float(drawn * self.mask_side**2)
        return counts

    def box_ratios(
        self,
        predicted: tuple[Tensor, Tensor],
        samples: Sequence[Sample],
        targets: Sequence[Target],
    ) -> dict[str, Ratio]:
        """Return the losses and metrics of what the box head says of all samples."""
        logits, deltas = predicted
        boxes = [sample.boxes for sample in samples]
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

    def mask_ratios(
        self, features: Tensor, samples: Sequence[Sample], targets: Sequence[Target]
    ) -> dict[str, Ratio]:
        """Return the loss and metrics of what is drawn of all foreground.

        Args:
            features: (F, C, M / 2, M / 2): what the mask predictor gets.
        """
        foreground = [slice(sample.foreground_count) for sample in samples]
        own_labels = [sample.labels[own] for sample, own in zip(samples, foreground, strict=True)]
        labels = torch.cat(own_labels)
        logits = cast(MaskPredictor, self.mask_predictor).of_labels(features, labels)
        drawn = [
            mask_targets(
                target.masks, sample.boxes[own], sample.matches[own], side=logits.shape[-1]
            )
            for sample, own, target in zip(samples, foreground, targets, strict=True)
        ]
        return mask_losses(logits, torch.cat(drawn))


def _make_sample(boxes: Tensor, target: Target, selection: Selection) -> Sample:
    foreground, background, matches = selection
    chosen = torch.cat([foreground, background])
    labels = torch.zeros_like(chosen)
    labels[: len(foreground)] = target.labels[matches[foreground]]
    return Sample(boxes[chosen], labels, matches[chosen], len(foreground))


def _matched_boxes(sample: Sample, target: Target) -> Tensor:
    """Return the true box of each proposal, (R, 4); any box where the picture has no object."""
    if target.boxes.numel() == 0:
        return sample.boxes
    return target.boxes[sample.matches]
