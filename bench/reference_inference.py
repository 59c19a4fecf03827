"""Evaluating pictures as torchvision's detection reference does it, for comparison.

Written from reading `evaluate` of engine.py, `prepare_for_coco_segmentation` of coco_eval.py and
presets.py in https://github.com/pytorch/vision/tree/release/0.29/references/detection: one picture
at a time, fp32, one thread, each mask drawn at the picture's size and encoded. What pycocotools
does with them afterwards is left out.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from PIL import Image
from pycocotools import mask as coco_mask
from torch import Tensor, nn
from torchvision.models.detection.roi_heads import paste_masks_in_image
from torchvision.transforms import v2

TO_TENSOR = v2.Compose([v2.PILToTensor(), v2.ToDtype(torch.float32, scale=True)])


@torch.inference_mode()
def reference_detections(model: nn.Module, picture: Image.Image) -> list[dict[str, Any]]:
    """Return what the reference hands to pycocotools, without image ids."""
    (found,) = model([TO_TENSOR(picture)])
    found = {name: value.cpu() for name, value in found.items()}
    left, top, right, bottom = found["boxes"].unbind(1)
    boxes = torch.stack((left, top, right - left, bottom - top), dim=1).tolist()
    scores, labels = found["scores"].tolist(), found["labels"].tolist()
    return [
        {"category_id": label, "bbox": box, "score": score, "segmentation": rle}
        for label, box, score, rle in zip(
            labels, boxes, scores, _encode(found["masks"] > 0.5), strict=True
        )
    ]


def reference_masks(
    probabilities: Tensor, boxes: Tensor, size: tuple[int, int]
) -> list[dict[str, Any]]:
    """Draw and encode masks, (D, 1, 28, 28) within (D, 4) boxes."""
    return _encode(paste_masks_in_image(probabilities, boxes, size) > 0.5)


def _encode(masks: Tensor) -> list[dict[str, Any]]:
    rles = [
        coco_mask.encode(np.array(mask[0, :, :, np.newaxis], dtype=np.uint8, order="F"))[0]
        for mask in masks
    ]
    return [{**rle, "counts": rle["counts"].decode("utf-8")} for rle in rles]
