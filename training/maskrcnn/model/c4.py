"""R-CNN on C4: the model without a feature pyramid.

The first four stages of a ResNet are the backbone, of stride 16; its fifth stage is the head: it
runs on each pooled proposal, for boxes and masks (He et al., Mask R-CNN, 2017, figure 4, left).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor, nn
from torchvision.models._utils import IntermediateLayerGetter
from torchvision.models.detection.roi_heads import maskrcnn_inference

from training.maskrcnn.data.batch import Target
from training.maskrcnn.model.backbone import Body
from training.maskrcnn.model.losses import Ratio
from training.maskrcnn.model.roi_heads import BoxPredictor, Heads, Sample

LEVEL = 4
"""Logarithm of the stride of the features."""
CELLS = 14
"""Side of what the fifth stage gets; its output has half of that, and masks as much."""


class C4Backbone(nn.Module):
    """The stages up to stride 16; their features are `0`."""

    def __init__(self, body: Body) -> None:
        super().__init__()
        self.body = IntermediateLayerGetter(body.network, {body.stages[3][-1]: "0"})
        self.out_channels = body.channels[2]

    def forward(self, images: Tensor) -> dict[str, Tensor]:
        features: dict[str, Tensor] = self.body(images)
        return features


class FifthStage(nn.Module):
    """What a ResNet does from stride 16 to stride 32, (R, C, 14, 14) to (R, 2 C, 7, 7)."""

    def __init__(self, body: Body) -> None:
        super().__init__()
        self.layer4: nn.Module = body.network.get_submodule(body.stages[4][-1])
        self.out_channels = body.channels[3]

    def forward(self, pooled: Tensor) -> Tensor:
        features: Tensor = self.layer4(pooled)
        return features


class MeanBoxPredictor(BoxPredictor):
    """Predicts from the mean of the features over their places."""

    def forward(self, features: Tensor) -> tuple[Tensor, Tensor]:
        return super().forward(features.mean(dim=(2, 3)))


class C4Heads(Heads):
    """Heads for boxes and masks that share the fifth stage."""

    def __init__(self, *, mask_predictor: nn.Module | None, **settings: Any) -> None:
        super().__init__(**settings)
        self.mask_predictor = mask_predictor

    @property
    def mask_side(self) -> int:
        return CELLS

    def has_mask(self) -> bool:
        return self.mask_predictor is not None

    def training_ratios(
        self,
        features: dict[str, Tensor],
        samples: Sequence[Sample],
        image_sizes: list[tuple[int, int]],
        targets: Sequence[Target],
    ) -> dict[str, Ratio]:
        """Return losses and label metrics."""
        shared = self._shared(features, [sample.boxes for sample in samples], image_sizes)
        ratios = self.box_ratios(self.box_predictor(shared), samples, targets)
        if self.mask_predictor is not None:
            rows = _foreground_rows(samples).to(shared.device)
            ratios |= self.mask_ratios(shared[rows], samples, targets)
        return ratios

    def forward(
        self,
        features: dict[str, Tensor],
        proposals: list[Tensor],
        image_shapes: list[tuple[int, int]],
        targets: None = None,  # noqa: ARG002 (torchvision's signature)
    ) -> tuple[list[dict[str, Tensor]], dict[str, Tensor]]:
        """Return detections; masks are drawn in the boxes that were found."""
        logits, deltas = self.box_predictor(self._shared(features, proposals, image_shapes))
        boxes, scores, labels = self.postprocess_detections(logits, deltas, proposals, image_shapes)
        found = [
            {"boxes": own_boxes, "labels": own_labels, "scores": own_scores}
            for own_boxes, own_labels, own_scores in zip(boxes, labels, scores, strict=True)
        ]
        if self.mask_predictor is not None:
            mask_logits = self.mask_predictor(self._shared(features, boxes, image_shapes))
            for own, masks in zip(found, maskrcnn_inference(mask_logits, labels), strict=True):
                own["masks"] = masks
        return found, {}

    def _shared(
        self, features: dict[str, Tensor], boxes: list[Tensor], image_sizes: list[tuple[int, int]]
    ) -> Tensor:
        """Return what boxes and masks are predicted from, (R, 2 C, 7, 7)."""
        shared: Tensor = self.box_head(self.box_roi_pool(features, boxes, image_sizes))
        return shared


def _foreground_rows(samples: Sequence[Sample]) -> Tensor:
    """Return the places of all foreground where the samples of all pictures are put together."""
    rows, offset = [], 0
    for sample in samples:
        rows.append(torch.arange(offset, offset + sample.foreground_count))
        offset += len(sample.boxes)
    return torch.cat(rows)
