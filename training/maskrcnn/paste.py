"""Masks of boxes to run-length encodings of whole pictures, without drawing whole pictures.

The result is that of torchvision's `paste_masks_in_image` above a half, pixel by pixel. That
function draws each mask on a float canvas of the picture's size, and encoding reads all of it:
with 100 detections most of an evaluation's time after the network. Here only the box is drawn.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from pycocotools import mask as coco_mask
from torch import Tensor
from torch.nn.functional import interpolate
from torchvision.models.detection.roi_heads import expand_boxes, expand_masks

from training.maskrcnn.found import Masks

Corners = tuple[int, int, int, int]
"""Left, top, right, bottom; whole pixels, the last ones included."""


def paste(probabilities: Tensor, boxes: Tensor, size: tuple[int, int]) -> Masks:
    """Return what is above a half.

    Args:
        probabilities: (D, 1, M, M) float32, on the CPU, within the boxes.
        boxes: (D, 4) float32, xyxy, pixels of the picture; they may reach over its frame.
        size: Height and width of the picture.
    """
    masks, scale = expand_masks(probabilities, padding=1)
    corners = expand_boxes(boxes, scale).long().tolist()
    runs = [
        {"size": size, "counts": _runs(mask[None], tuple(box), size)}
        for mask, box in zip(masks, corners, strict=True)
    ]
    return Masks.of(coco_mask.frPyObjects(runs, *size) if runs else [])


def _runs(mask: Tensor, box: Corners, size: tuple[int, int]) -> NDArray[np.int64]:
    """Return how many pixels are off, on, off, ... down the columns of the whole picture.

    Args:
        mask: (1, 1, M + 2, M + 2), with its border of zeros.
    """
    height, width = size
    left, top, right, bottom = box
    # The part of the box in the frame, without its last column and row.
    begin_x, end_x = max(left, 0), min(right + 1, width)
    begin_y, end_y = max(top, 0), min(bottom + 1, height)
    if begin_x >= end_x or begin_y >= end_y:
        return np.array([height * width])
    cells = (max(bottom - top + 1, 1), max(right - left + 1, 1))
    scaled = interpolate(mask, size=cells, mode="bilinear", align_corners=False)[0, 0]
    is_on = scaled[begin_y - top : end_y - top, begin_x - left : end_x - left] > 0.5
    # The columns that the box touches, one after the other, and a pixel that is off at both ends.
    columns = np.zeros((end_x - begin_x) * height + 2, np.bool_)
    columns[1:-1].reshape(-1, height)[:, begin_y:end_y] = is_on.numpy().T
    changes = np.flatnonzero(columns[1:] != columns[:-1]) + begin_x * height
    runs = np.diff(changes, prepend=0, append=height * width)
    return runs if runs[-1] else runs[:-1]
