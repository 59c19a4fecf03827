"""Mask R-CNN, put together from torchvision's parts and ours."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor, nn
from torchvision.models.detection.anchor_utils import AnchorGenerator
from torchvision.models.detection.faster_rcnn import TwoMLPHead
from torchvision.models.detection.image_list import ImageList
from torchvision.models.detection.mask_rcnn import MaskRCNNHeads

from training.maskrcnn.data.batch import Target
from training.maskrcnn.hyperparameters import Hyperparameters
from training.maskrcnn.model.backbone import build_backbone
from training.maskrcnn.model.losses import Ratio
from training.maskrcnn.model.norm import SumOverRanks, thin_group_norm
from training.maskrcnn.model.proposals import ProposalHead, ProposalNetwork
from training.maskrcnn.model.roi_align import PyramidRoIAlign
from training.maskrcnn.model.roi_heads import BoxPredictor, Heads, MaskPredictor

PIXEL_MEAN = (0.485, 0.456, 0.406)
PIXEL_STD = (0.229, 0.224, 0.225)
"""Of ImageNet's RGB pixels in [0, 1], which torchvision's weights were trained with."""

BOX_CELLS = 7
"""Side of the box head's input; the mask head's is twice that and its output four times."""

Detections = dict[str, Tensor]
"""Of one picture: `boxes` (D, 4) float32 xyxy in pixels of the resized picture, `labels` (D,)
int64 from 1, `scores` (D,) float32 falling, `masks` (D, 1, 28, 28) probabilities in the box."""


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
    ) -> dict[str, Ratio] | list[Detections]:
        """Return losses and label metrics in training, detections in evaluation.

        Args:
            pixels: (N, 3, H, W) uint8, RGB, each picture in the upper left corner.
            sizes: Height and width of each picture without padding.
            targets: The truth; only in training.
        """
        images = ImageList(self._normalize(pixels, sizes), list(sizes))
        features = self.backbone(images.tensors)
        if self.training:
            assert targets is not None
            proposals, ratios = self.rpn(images, features, targets)
            return {
                **ratios,
                **self.roi_heads.training_ratios(features, proposals, list(sizes), targets),
            }
        proposals, _ = self.rpn(images, features)
        detections: list[Detections]
        detections, _ = self.roi_heads(features, proposals, list(sizes))
        return detections

    def _normalize(self, pixels: Tensor, sizes: Sequence[tuple[int, int]]) -> Tensor:
        """Scale pixels to mean 0 and deviation 1, and the padding to 0."""
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
    backbone = build_backbone(hyperparameters, sum_over_ranks)
    return MaskRCNN(
        backbone,
        _build_proposal_network(hyperparameters),
        _build_heads(hyperparameters, outputs=categories + 1),
    )


def _build_proposal_network(hyperparameters: Hyperparameters) -> ProposalNetwork:
    ratios = hyperparameters.anchor_aspect_ratios
    anchors = AnchorGenerator(
        tuple((size,) for size in hyperparameters.anchor_sizes),
        (ratios,) * len(hyperparameters.anchor_sizes),
    )
    return ProposalNetwork(
        anchors,
        ProposalHead(hyperparameters.fpn_channels, len(ratios)),
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
    mask_channels = hyperparameters.mask_head_channels
    mask_norm = thin_group_norm if hyperparameters.batch_norm == "GN" else None
    samples = hyperparameters.roi_sampling_ratio
    return Heads(
        box_roi_pool=PyramidRoIAlign(BOX_CELLS, sampling_ratio=samples),
        box_head=TwoMLPHead(channels * BOX_CELLS**2, box_channels),
        box_predictor=BoxPredictor(box_channels, outputs),
        fg_iou_thresh=0.5,
        bg_iou_thresh=0.5,
        batch_size_per_image=hyperparameters.roi_batch_per_image,
        positive_fraction=0.25,
        bbox_reg_weights=(10.0, 10.0, 5.0, 5.0),
        score_thresh=hyperparameters.score_threshold,
        nms_thresh=0.5,
        detections_per_img=hyperparameters.detections_per_image,
        mask_roi_pool=PyramidRoIAlign(2 * BOX_CELLS, sampling_ratio=samples),
        mask_head=MaskRCNNHeads(
            channels, (mask_channels,) * hyperparameters.mask_head_layers, 1, mask_norm
        ),
        mask_predictor=MaskPredictor(mask_channels, mask_channels, outputs),
    )
