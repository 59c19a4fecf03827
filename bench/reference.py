"""Reading as torchvision's own training does it: CocoDetection and the reference's transforms.

The transforms are those of its detection reference with `--use-v2` and random sizes
(https://github.com/pytorch/vision/blob/main/references/detection/presets.py), on PIL pictures,
which is that script's default.
"""

from __future__ import annotations

import contextlib
import io
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
from torch.utils.data import Subset
from torchvision.datasets import CocoDetection, wrap_dataset_for_transforms_v2
from torchvision.transforms import v2


def reference_pictures(
    images: Path,
    annotations: Path,
    *,
    short_sides: Sequence[int],
    max_side: int,
    flip_probability: float,
) -> Any:
    """Return the data set: each item is a picture, (3, H, W) float32 from 0 to 1, and its target.

    A target has `boxes` (N, 4) xyxy, `labels` (N,) category ids and `masks` (N, H, W).
    """
    transforms = v2.Compose(
        [
            v2.RandomShortestSize(min_size=list(short_sides), max_size=max_side),
            v2.RandomHorizontalFlip(flip_probability),
            v2.PILToTensor(),
            v2.ToDtype(torch.float32, scale=True),
            v2.SanitizeBoundingBoxes(),
            v2.ToPureTensor(),
        ]
    )
    with contextlib.redirect_stdout(io.StringIO()):
        pictures = CocoDetection(str(images), str(annotations), transforms=transforms)
    # The reference too leaves out pictures without an object.
    keep = [place for place, image_id in enumerate(pictures.ids) if _has_object(pictures, image_id)]
    wrapped = wrap_dataset_for_transforms_v2(pictures, target_keys=("boxes", "labels", "masks"))
    return Subset(wrapped, keep)


def _has_object(pictures: Any, image_id: int) -> bool:
    return any(not annotation["iscrowd"] for annotation in pictures.coco.imgToAnns[image_id])
