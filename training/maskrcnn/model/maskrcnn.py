"""Mask R-CNN, put together from torchvision's parts and ours."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor, nn
from torchvision.models.detection.anchor_utils import AnchorGenerator
from torchvision.models.detection.faster_rcnn import TwoMLPHead
from torchvision.models.detection.image_list import ImageList
from torchvision.models.detection.mask_rcnn import MaskRCNNHeads

from training.maskrcnn.data.batch import Target
from training.maskrcnn.hyperparameters import Hyperparameters
from training.maskrcnn.model import c4
from training.maskrcnn.model.anchors import ExactAnchors
from training.maskrcnn.model.backbone import build_backbone, build_body
from training.maskrcnn.model.c4 import C4Backbone, C4Heads, FifthStage, MeanBoxPredictor
from training.maskrcnn.model.losses import Ratio, TellCounts
from training.maskrcnn.model.norm import SumOverRanks, thin_group_norm
from training.maskrcnn.model.proposals import ProposalHead, ProposalNetwork
from training.maskrcnn.model.roi_align import PyramidRoIAlign
from training.maskrcnn.model.roi_heads import BoxPredictor, Heads, MaskPredictor

PIXEL_MEAN = (0.485, 0.456, 0.406)
PIXEL_STD = (0.229, 0.224, 0.225)
"""Of ImageNet's RGB pixels in [0, 1], which torchvision's weights were trained with."""

BOX_CELLS = 7
"""Side of the box head's input; the mask head's is twice that and its output four times."""

PYRAMID_STRIDES = (4, 8, 16, 32, 64)

Detections = dict[str, Tensor]
"""Of one picture: `boxes` (D, 4) float32 xyxy in pixels of the resized picture, `labels` (D,)
int64 from 1, `scores` (D,) float32 falling; with mode_mask `masks` (D, 1, M, M)
probabilities in the box: M is 28, or 14 without a pyramid."""


class MaskRCNN(nn.Module):
    """Mask R-CNN; its weights have torchvision's names."""

    pixel_mean: Tensor
    pixel_std: Tensor

    def __init__(self, backbone: nn.Module, rpn: ProposalNetwork, roi_heads: Heads) -> None:
        super().__init__()
        self.backbone = backbone
        self.rpn = rpn
        self.roi_heads = roi_heads
        for name, value in (("pixel_mean", PIXEL_MEAN), ("pixel_std", PIXEL_STD)):
            pixels = torch.tensor(value)[:, None, None] * 255
            self.register_buffer(name, pixels, persistent=False)

    def forward(
        self,
        pixels: Tensor,
        sizes: Sequence[tuple[int, int]],
        targets: Sequence[Target] | None = None,
        tell_counts: TellCounts | None = None,
    ) -> dict[str, Ratio] | list[Detections]:
        """Return losses and label metrics in training, detections in evaluation.

        Args:
            pixels: (N, 3, H, W) uint8, RGB, each picture in the upper left corner.
            sizes: Height and width of each picture without padding.
            targets: The truth; only in training.
            tell_counts: Called before the heads compute.
        """
        images = ImageList(self._normalize(pixels, sizes), list(sizes))
        features = self.backbone(images.tensors)
        if self.training:
            assert targets is not None
            proposals, ratios = self.rpn(images, features, targets)
            samples = self.roi_heads.samples(proposals, targets)
            if tell_counts:
                counts = {name: ratio.count for name, ratio in ratios.items()}
                tell_counts({**counts, **self.roi_heads.loss_counts(samples)})
            return {
                **ratios,
                **self.roi_heads.training_ratios(features, samples, list(sizes), targets),
            }
        proposals, _ = self.rpn(images, features)
        detections: list[Detections]
        detections, _ = self.roi_heads(features, proposals, list(sizes))
        return detections

    def compile_layers(self, **options: Any) -> None:
        """Compile, when they are first called, the layers whose shapes follow from the batch's.

        What comes after them has as many rows as there are proposals and objects: no two steps
        would run the same code. Names of weights stay.

        Args:
            options: Of torch.compile.
        """
        self.backbone.compile(**options)
        self.rpn.head.compile(**options)

    def _normalize(self, pixels: Tensor, sizes: Sequence[tuple[int, int]]) -> Tensor:
        """Scale pixels to mean 0 and deviation 1, and the padding to 0."""
        # All channels of a place together, as convolutions and pooling read them.
        pixels = pixels.contiguous(memory_format=torch.channels_last)
        images = (pixels.float() - self.pixel_mean) / self.pixel_std
        for image, (height, width) in zip(images, sizes, strict=True):
            image[:, height:] = 0
            image[:, :, width:] = 0
        return images


def build_model(
    hyperparameters: Hyperparameters, *, categories: int, sum_over_ranks: SumOverRanks
) -> MaskRCNN:
    """Build the model with random weights.

    Args:
        categories: How many kinds of objects there are; background not counted.
        sum_over_ranks: For batch norm over all ranks.
    """
    outputs = categories + 1
    if hyperparameters.mode_fpn:
        return MaskRCNN(
            build_backbone(hyperparameters, sum_over_ranks),
            _build_proposal_network(hyperparameters, channels=hyperparameters.fpn_channels),
            _build_heads(hyperparameters, outputs=outputs),
        )
    body = build_body(hyperparameters, sum_over_ranks)
    backbone = C4Backbone(body)
    return MaskRCNN(
        backbone,
        _build_proposal_network(hyperparameters, channels=backbone.out_channels),
        _build_c4_heads(hyperparameters, FifthStage(body), outputs=outputs),
    )


def _build_proposal_network(hyperparameters: Hyperparameters, *, channels: int) -> ProposalNetwork:
    sizes, ratios = hyperparameters.anchor_sizes, hyperparameters.anchor_aspect_ratios
    # One size a level of the pyramid, or all of them on the only level.
    levels = tuple((size,) for size in sizes) if hyperparameters.mode_fpn else (sizes,)
    strides = PYRAMID_STRIDES if hyperparameters.mode_fpn else (2**c4.LEVEL,)
    return ProposalNetwork(
        ExactAnchors(levels, ratios, strides)
        if hyperparameters.exact_geometry
        else AnchorGenerator(levels, (ratios,) * len(levels)),
        ProposalHead(channels, len(levels[0]) * len(ratios)),
        fg_iou_thresh=0.7,
        bg_iou_thresh=0.3,
        batch_size_per_image=hyperparameters.rpn_batch_per_image,
        positive_fraction=0.5,
        pre_nms_top_n={
            "training": hyperparameters.rpn_pre_nms_train,
            "testing": hyperparameters.rpn_pre_nms_test,
        },
        post_nms_top_n={
            "training": hyperparameters.rpn_post_nms_train,
            "testing": hyperparameters.rpn_post_nms_test,
        },
        nms_thresh=0.7,
    )


def _build_heads(hyperparameters: Hyperparameters, *, outputs: int) -> Heads:
    channels = hyperparameters.fpn_channels
    box_channels = hyperparameters.box_head_channels
    return Heads(
        box_roi_pool=_build_pool(hyperparameters, BOX_CELLS),
        box_head=TwoMLPHead(channels * BOX_CELLS**2, box_channels),
        box_predictor=BoxPredictor(box_channels, outputs),
        **_head_settings(hyperparameters),
        **_build_mask_branch(hyperparameters, outputs=outputs),
    )


def _build_c4_heads(hyperparameters: Hyperparameters, stage: FifthStage, *, outputs: int) -> Heads:
    channels, mask_channels = stage.out_channels, hyperparameters.mask_head_channels
    return C4Heads(
        box_roi_pool=PyramidRoIAlign(
            c4.CELLS,
            sampling_ratio=hyperparameters.roi_sampling_ratio,
            is_aligned=hyperparameters.exact_geometry,
            finest=c4.LEVEL,
            coarsest=c4.LEVEL,
        ),
        box_head=stage,
        box_predictor=MeanBoxPredictor(channels, outputs),
        mask_predictor=(
            MaskPredictor(channels, mask_channels, outputs) if hyperparameters.mode_mask else None
        ),
        **_head_settings(hyperparameters),
    )


def _head_settings(hyperparameters: Hyperparameters) -> dict[str, Any]:
    """Return what torchvision's heads are told besides their layers."""
    return {
        "fg_iou_thresh": 0.5,
        "bg_iou_thresh": 0.5,
        "batch_size_per_image": hyperparameters.roi_batch_per_image,
        "positive_fraction": 0.25,
        "bbox_reg_weights": (10.0, 10.0, 5.0, 5.0),
        "score_thresh": hyperparameters.score_threshold,
        "nms_thresh": 0.5,
        "detections_per_img": hyperparameters.detections_per_image,
    }


def _build_pool(hyperparameters: Hyperparameters, cells: int) -> PyramidRoIAlign:
    return PyramidRoIAlign(
        cells,
        sampling_ratio=hyperparameters.roi_sampling_ratio,
        is_aligned=hyperparameters.exact_geometry,
    )


def _build_mask_branch(hyperparameters: Hyperparameters, *, outputs: int) -> dict[str, nn.Module]:
    """Return what the heads lack without it; nothing where boxes are enough."""
    if not hyperparameters.mode_mask:
        return {}
    channels = hyperparameters.mask_head_channels
    return {
        "mask_roi_pool": _build_pool(hyperparameters, 2 * BOX_CELLS),
        "mask_head": MaskRCNNHeads(
            hyperparameters.fpn_channels,
            (channels,) * hyperparameters.mask_head_layers,
            1,
            thin_group_norm if hyperparameters.batch_norm == "GN" else None,
        ),
        "mask_predictor": MaskPredictor(channels, channels, outputs),
    }
