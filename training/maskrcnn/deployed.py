"""The model as it is exported: one picture in, its detections out, no Python in between.

What it computes is what `MaskRCNN` computes in evaluation, with the same layers. It is written
again because a graph cannot branch on how many proposals there are: here all tensors have sizes
that follow from the picture's, but behind non-maximum suppression, whose answer at once becomes a
mark on each candidate. Only the detections that come out have a size of their own.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

import torch
from torch import Tensor, nn
from torchvision.models.detection.image_list import ImageList
from torchvision.ops import nms, roi_align

from training.maskrcnn.hyperparameters import Hyperparameters
from training.maskrcnn.model.c4 import LEVEL, C4Heads
from training.maskrcnn.model.maskrcnn import MaskRCNN
from training.maskrcnn.model.roi_align import COARSEST, FINEST, level_by_size

OUTSIDE = ((-2.0, -2.0, -1.0, -1.0), (-4.0, -4.0, -3.0, -3.0))
"""Boxes that are always kept, since they meet no other: torchvision tells torch.export that
suppression keeps two boxes at least, and the exported program insists on it."""

LEAST_SIDE = 1e-2
"""Pixels; narrower detections are dropped, as in torchvision's `postprocess_detections`."""

Outputs = tuple[Tensor, ...]


class DeployedMaskRCNN(nn.Module):
    """Detects in one picture."""

    category_ids: Tensor

    def __init__(
        self, model: MaskRCNN, hyperparameters: Hyperparameters, category_ids: Sequence[int]
    ) -> None:
        """Take over a model's layers; its weights are not trained any more."""
        super().__init__()
        self.model = model.eval().requires_grad_(False)
        self._finest, self._coarsest = (
            (FINEST, COARSEST) if hyperparameters.mode_fpn else (LEVEL, LEVEL)
        )
        self._is_aligned = hyperparameters.exact_geometry
        self._has_mask = hyperparameters.mode_mask
        self.register_buffer("category_ids", torch.tensor([0, *category_ids]), persistent=False)

    def forward(self, pixels: Tensor, size: Tensor) -> Outputs:
        """Return the detections, the best first.

        Args:
            pixels: (3, H, W) uint8, RGB; the picture in the upper left corner, H and W multiples
                of 32.
            size: (2,) int64, height and width of the picture.

        Returns:
            boxes: (D, 4) float32, xyxy, in pixels of the picture.
            labels: (D,) int64, category ids.
            scores: (D,) float32.
            masks: (D, M, M) float32, probabilities within the boxes; only where the model has
                masks.
        """
        images = self._normalized(pixels, size)[None]
        features = self.model.backbone(images)
        limits = torch.cat([size.flip(0), size.flip(0)]).float()
        proposals, is_there = self._propose(images, list(features.values()), limits)
        boxes, labels, scores = self._classify(features, proposals, is_there, limits)
        found = torch.where(scores > 0)[0]
        outputs = (boxes[found], self.category_ids[labels[found]], scores[found])
        if not self._has_mask:
            return outputs
        # Of all places, with a detection or without: their number is fixed.
        return (*outputs, self._draw(features, boxes, labels)[found])

    def _normalized(self, pixels: Tensor, size: Tensor) -> Tensor:
        """Scale pixels to mean 0 and deviation 1, and the padding to 0."""
        rows = torch.arange(pixels.shape[1], device=pixels.device) < size[0]
        columns = torch.arange(pixels.shape[2], device=pixels.device) < size[1]
        normalized = (pixels.float() - self.model.pixel_mean) / self.model.pixel_std
        return normalized * (rows[:, None] & columns)

    # Proposals

    def _propose(
        self, images: Tensor, levels: list[Tensor], limits: Tensor
    ) -> tuple[Tensor, Tensor]:
        """Return the best boxes of all levels, (P, 4), and which of them are any: (P,) bool."""
        rpn = self.model.rpn
        logits, deltas = rpn.head(levels)
        (anchors,) = rpn.anchor_generator(ImageList(images, [(0, 0)]), levels)
        parts = anchors.split([own.shape[1] * own.shape[2] * own.shape[3] for own in logits])
        chosen = [
            self._propose_of_level(own_logits[0], own_deltas[0], own_anchors, limits)
            for own_logits, own_deltas, own_anchors in zip(logits, deltas, parts, strict=True)
        ]
        boxes = torch.cat([boxes for boxes, _ in chosen])
        scores = torch.cat([scores for _, scores in chosen])
        scores, best = scores.topk(torch.sym_min(rpn.post_nms_top_n(), scores.shape[0]))
        return boxes[best], scores >= 0

    def _propose_of_level(
        self, logits: Tensor, deltas: Tensor, anchors: Tensor, limits: Tensor
    ) -> tuple[Tensor, Tensor]:
        """Return the boxes of one level that lead in score, with -1 for those not to be taken.

        Args:
            logits: (A, H, W) for A anchors a place.
            deltas: (4 A, H, W).
            anchors: (H * W * A, 4).
        """
        rpn = self.model.rpn
        kinds, height, width = logits.shape
        scores = logits.permute(1, 2, 0).reshape(-1)
        scores, best = scores.topk(torch.sym_min(rpn.pre_nms_top_n(), scores.shape[0]))
        own = deltas.reshape(kinds, 4, height, width).permute(2, 3, 0, 1).reshape(-1, 4)
        boxes = _inside(rpn.box_coder.decode_single(own[best], anchors[best]), limits)
        scores = torch.sigmoid(scores)
        is_large = (_sides(boxes) >= rpn.min_size).all(dim=1)
        scores = torch.where(is_large & (scores >= rpn.score_thresh), scores, -1.0)
        kept = _suppress(boxes, scores, rpn.nms_thresh)
        is_kept = scores.new_zeros(scores.shape[0] + len(OUTSIDE), dtype=torch.bool)
        is_kept = is_kept.index_fill(0, kept, True)[: scores.shape[0]]
        return boxes, torch.where(is_kept, scores, -1.0)

    # Heads

    def _classify(
        self, features: Mapping[str, Tensor], proposals: Tensor, is_there: Tensor, limits: Tensor
    ) -> tuple[Tensor, Tensor, Tensor]:
        """Return boxes, labels and scores of `detections_per_image` places, score 0 where none."""
        heads = self.model.roi_heads
        pooled = self._pool(heads.box_roi_pool, features, proposals)
        logits, deltas = heads.box_predictor(heads.box_head(pooled))
        outputs = logits.shape[1]
        probabilities = torch.softmax(logits, dim=1) * is_there[:, None]
        decoded = heads.box_coder.decode_single(deltas, proposals).reshape(-1, outputs, 4)
        boxes = _inside(decoded[:, 1:].reshape(-1, 4), limits)
        scores = probabilities[:, 1:].reshape(-1)
        labels = torch.arange(1, outputs, device=limits.device).repeat(logits.shape[0])
        is_wide = (_sides(boxes) >= LEAST_SIDE).all(dim=1)
        candidates = torch.where((scores > heads.score_thresh) & is_wide)[0]
        return self._best(boxes[candidates], labels[candidates], scores[candidates], limits)

    def _best(
        self, boxes: Tensor, labels: Tensor, scores: Tensor, limits: Tensor
    ) -> tuple[Tensor, Tensor, Tensor]:
        """Suppress what another one of the same label covers, and return the best."""
        heads = self.model.roi_heads
        # Moved apart by label, boxes of different labels do not meet.
        apart = boxes + (labels * (limits.max() + 1))[:, None]
        kept = _suppress(apart, scores, heads.nms_thresh)
        count = heads.detections_per_img
        # Room for those outside, and for `count` places at least.
        boxes = torch.cat([boxes, boxes.new_zeros(len(OUTSIDE), 4)])[kept]
        labels = torch.cat([labels, labels.new_zeros(len(OUTSIDE))])[kept]
        scores = torch.cat([scores, scores.new_zeros(len(OUTSIDE))])[kept]
        scores, best = torch.cat([scores, scores.new_zeros(count)]).topk(count)
        boxes = torch.cat([boxes, boxes.new_zeros(count, 4)])[best]
        labels = torch.cat([labels, labels.new_zeros(count)])[best]
        return boxes, labels, scores

    def _draw(self, features: Mapping[str, Tensor], boxes: Tensor, labels: Tensor) -> Tensor:
        """Return the masks of boxes, (D, M, M)."""
        heads = self.model.roi_heads
        if isinstance(heads, C4Heads):
            shared = heads.box_head(self._pool(heads.box_roi_pool, features, boxes))
        else:
            shared = heads.mask_head(self._pool(heads.mask_roi_pool, features, boxes))
        masks = torch.sigmoid(cast(nn.Module, heads.mask_predictor)(shared))
        return masks[torch.arange(labels.shape[0], device=labels.device), labels]

    def _pool(self, pool: Any, features: Mapping[str, Tensor], boxes: Tensor) -> Tensor:
        """Return the features of R boxes, (R, C, cells, cells), as `PyramidRoIAlign` does."""
        levels = [features[name] for name in pool.featmap_names]
        level = level_by_size(boxes, self._finest, self._coarsest)
        boxes = torch.cat([boxes.new_zeros(boxes.shape[0], 1), boxes], dim=1)
        cells = pool.output_size
        pooled = boxes.new_zeros(boxes.shape[0], levels[0].shape[1], *cells)
        for number, own in enumerate(levels, start=self._finest):
            rows = torch.where(level == number)[0]
            got = roi_align(
                own,
                boxes[rows],
                cells,
                spatial_scale=0.5**number,
                sampling_ratio=pool.sampling_ratio,
                aligned=self._is_aligned,
            )
            pooled = pooled.index_put((rows,), got)
        return pooled


def _inside(boxes: Tensor, limits: Tensor) -> Tensor:
    return torch.minimum(boxes.clamp(min=0), limits)


def _sides(boxes: Tensor) -> Tensor:
    return boxes[:, 2:] - boxes[:, :2]


def _suppress(boxes: Tensor, scores: Tensor, threshold: float) -> Tensor:
    """Return the places of the boxes that no better one covers, and those of `OUTSIDE` after them.

    Scores are -1 or more.
    """
    outside = boxes.new_tensor(OUTSIDE)
    all_scores = torch.cat([scores, scores.new_full((len(OUTSIDE),), -1.0)])
    kept: Tensor = nms(torch.cat([boxes, outside]), all_scores, threshold)
    return kept
