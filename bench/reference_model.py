"""torchvision's own Mask R-CNN of the shape that hyperparameters give ours, for comparison."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor, nn
from torchvision.models import mobilenet_v3_small, resnet18, resnet50, resnet101
from torchvision.models.detection import MaskRCNN
from torchvision.models.detection.anchor_utils import AnchorGenerator
from torchvision.models.detection.backbone_utils import BackboneWithFPN
from torchvision.models.detection.faster_rcnn import FastRCNNPredictor, TwoMLPHead
from torchvision.models.detection.mask_rcnn import MaskRCNNHeads, MaskRCNNPredictor
from torchvision.ops.misc import FrozenBatchNorm2d

from training.maskrcnn.hyperparameters import Hyperparameters
from training.maskrcnn.model.backbone import trainable_stages
from training.maskrcnn.model.norm import thin_group_norm

BOX_CELLS = 7
RESNETS = {"resnet18": resnet18, "resnet50": resnet50, "resnet101": resnet101}
NORMS = {"FreezeBN": FrozenBatchNorm2d, "GN": thin_group_norm, "None": nn.BatchNorm2d}
STAGES = ("conv1", "layer1", "layer2", "layer3", "layer4")
CALM = 0.2
MOBILENET_LEVELS = {"1": "0", "3": "1", "8": "2", "12": "3"}
MOBILENET_CHANNELS = [16, 24, 48, 576]


def reference_like(given: Hyperparameters, weights: Mapping[str, Tensor], *, outputs: int) -> Any:
    """Build it from torchvision's parts alone, with the weights of ours: the names are the same.

    With the default hyperparameters it is what `maskrcnn_resnet50_fpn` builds.

    Args:
        outputs: Categories, background included.
    """
    norm = thin_group_norm if given.batch_norm == "GN" else None
    channels, mask_channels = given.fpn_channels, given.mask_head_channels
    model = MaskRCNN(
        _build_backbone(given, norm),
        rpn_anchor_generator=AnchorGenerator(
            tuple((size,) for size in given.anchor_sizes),
            (given.anchor_aspect_ratios,) * len(given.anchor_sizes),
        ),
        box_head=TwoMLPHead(channels * BOX_CELLS**2, given.box_head_channels),
        box_predictor=FastRCNNPredictor(given.box_head_channels, outputs),
        mask_head=MaskRCNNHeads(channels, (mask_channels,) * given.mask_head_layers, 1, norm),
        mask_predictor=MaskRCNNPredictor(mask_channels, mask_channels, outputs),
        min_size=given.image_short_sides[0],
        max_size=given.image_max_side,
        rpn_pre_nms_top_n_train=given.rpn_pre_nms_train,
        rpn_post_nms_top_n_train=given.rpn_post_nms_train,
        rpn_pre_nms_top_n_test=given.rpn_pre_nms_test,
        rpn_post_nms_top_n_test=given.rpn_post_nms_test,
        rpn_batch_size_per_image=given.rpn_batch_per_image,
        box_batch_size_per_image=given.roi_batch_per_image,
        box_score_thresh=given.score_threshold,
        box_detections_per_img=given.detections_per_image,
    )
    model.load_state_dict(weights)
    return model


def _build_backbone(given: Hyperparameters, norm: Any) -> BackboneWithFPN:
    if given.resnet_arch == "mobilenet":
        body: Any = mobilenet_v3_small(weights=None, norm_layer=NORMS[given.batch_norm]).features
        levels, widths = MOBILENET_LEVELS, MOBILENET_CHANNELS
    else:
        body = RESNETS[given.resnet_arch](weights=None, norm_layer=NORMS[given.batch_norm])
        levels = {f"layer{level + 1}": str(level) for level in range(4)}
        widths = [body.inplanes // 8 * 2**level for level in range(4)]
        for stage in STAGES[: len(STAGES) - trainable_stages(given)]:
            body.get_submodule(stage).requires_grad_(False)
    return BackboneWithFPN(body, levels, widths, given.fpn_channels, norm_layer=norm)


def calm(weights: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Weaken the last norm of each residual block of random weights.

    With frozen norms that do nothing, the variance would double in every block.
    """
    last = "bn3.weight" if any(name.endswith("bn3.weight") for name in weights) else "bn2.weight"
    return {
        name: torch.full_like(value, CALM) if name.endswith(last) else value
        for name, value in weights.items()
    }
