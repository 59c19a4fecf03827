"""A model and a schedule so small that a training takes seconds."""

from __future__ import annotations

from typing import Any

TINY: dict[str, Any] = {
    "resnet_arch": "mobilenet",
    # Linear, so that rounding stays as small as it begins.
    "batch_norm": "FreezeBN",
    "backbone_weights": None,
    "fpn_channels": 16,
    "box_head_channels": 32,
    "mask_head_channels": 16,
    "mask_head_layers": 1,
    "anchor_sizes": [8, 16, 32, 64, 128],
    "anchor_aspect_ratios": [1.0],
    "rpn_batch_per_image": 32,
    "rpn_pre_nms_train": 50,
    "rpn_post_nms_train": 30,
    "rpn_pre_nms_test": 50,
    "rpn_post_nms_test": 30,
    "roi_batch_per_image": 16,
    "detections_per_image": 10,
    "image_short_sides": [64],
    "image_max_side": 64,
    "base_learning_rate": 0.02,
    "warmup_steps": 4,
    "precision": "fp32",
    "num_workers": 0,
    "batch_size_per_gpu": 4,
    "lr_epoch_schedule": [[1, None]],
    "images_per_epoch": 48,
    "log_period": 1,
}
