"""Evaluation with pycocotools, as its own demo and torchvision's reference do it.

https://github.com/cocodataset/cocoapi/blob/master/PythonAPI/pycocoEvalDemo.ipynb
"""

from __future__ import annotations

import contextlib
import io
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pycocotools.coco import COCO
from pycocotools.cocoeval import COCOeval

KINDS = ("bbox", "segm")


def open_truth(annotations: Path) -> COCO:
    """Read an annotation file."""
    with contextlib.redirect_stdout(io.StringIO()):
        return COCO(str(annotations))


def reference_numbers(truth: COCO, detections: Sequence[dict[str, Any]]) -> list[float]:
    """Return the 12 numbers of boxes, then those of masks.

    Args:
        truth: What `open_truth` returns.
        detections: In COCO's result format, with boxes and masks; at least one.
    """
    numbers: list[float] = []
    with contextlib.redirect_stdout(io.StringIO()):
        for kind in KINDS:
            # With a box in it, a detection's size would be that of the box for masks as well.
            other = "segmentation" if kind == "bbox" else "bbox"
            own = [{k: v for k, v in found.items() if k != other} for found in detections]
            evaluation = COCOeval(truth, truth.loadRes(own), kind)
            evaluation.evaluate()
            evaluation.accumulate()
            evaluation.summarize()
            numbers += [float(value) for value in evaluation.stats]
    return numbers
