"""Evaluation spread over the ranks: each picture on one rank, mAP on rank 0."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from pycocotools import mask as coco_mask
from torch import Tensor
from torchvision.models.detection.roi_heads import paste_masks_in_image

from training.errors import JobFailed
from training.maskrcnn.coco_eval import Detection, mean_average_precision
from training.maskrcnn.data.batch import STRIDE
from training.maskrcnn.data.coco import Split
from training.maskrcnn.data.dataset import EvaluationPictures
from training.maskrcnn.data.pictures import BrokenPicture
from training.maskrcnn.data.record import Record
from training.maskrcnn.engines.engine import Engine
from training.maskrcnn.files import write_atomically
from training.maskrcnn.hyperparameters import Hyperparameters
from training.maskrcnn.model.maskrcnn import Detections, MaskRCNN
from training.maskrcnn.step import AUTOCAST_TYPES, autocast
from training.maskrcnn.together import is_any, on_rank_0

PICTURES_BETWEEN_CHECKS = 8
"""After so many pictures the ranks ask each other whether to stop."""
MASKS_AT_ONCE = 16
"""Masks drawn at full size at a time: 100 of a large picture would take gigabytes."""
PREDICTED_PICTURES = 500
"""predictions.json holds the detections of so many pictures, the first by image id."""


@dataclass(frozen=True)
class Evaluation:
    """What one split's evaluation found; `detections` only on rank 0."""

    metrics: Mapping[str, float]
    detections: list[Detection]
    broken: tuple[str, ...]


def evaluate(
    engine: Engine,
    model: MaskRCNN,
    split: Split,
    hyperparameters: Hyperparameters,
    *,
    is_stop_requested: Callable[[], bool],
) -> Evaluation | None:
    """Detect in one split and compare with its truth.

    Pictures go through the model one by one, so that the result does not depend on the number of
    ranks or on which pictures are padded together.

    Returns:
        None where any rank was asked to stop.

    Raises:
        JobFailed: More than `max_broken_pictures` cannot be used.
    """
    pictures = EvaluationPictures(split.records, hyperparameters)
    detector = _Detector(engine, model, split, hyperparameters)
    detections: list[Detection] = []
    broken: list[str] = []
    rounds = -(-len(pictures) // engine.size)
    for turn in range(rounds):
        index = turn * engine.size + engine.rank
        if index < len(pictures):
            try:
                record, pixels = pictures[index]
                detections.extend(detector.detect(record, pixels))
            except BrokenPicture as error:
                broken.append(str(error))
        if turn % PICTURES_BETWEEN_CHECKS == 0 and is_any(engine, is_stop_requested()):
            return None
    return _judge(engine, split, detections, broken, hyperparameters.max_broken_pictures)


def _judge(
    engine: Engine,
    split: Split,
    detections: list[Detection],
    broken: list[str],
    max_broken: int,
) -> Evaluation:
    all_detections = [d for of_rank in engine.gather(detections) for d in of_rank]
    all_broken = tuple(message for of_rank in engine.gather(broken) for message in of_rank)

    def compare() -> dict[str, float]:
        if len(all_broken) > max_broken:
            raise JobFailed(
                f"{split.name}: {len(all_broken)} pictures cannot be used, more than "
                f"max_broken_pictures {max_broken}: {all_broken[0]}"
            )
        return mean_average_precision(split.records, split.categories, all_detections)

    metrics = on_rank_0(engine, compare)
    return Evaluation(metrics, all_detections, all_broken)


class _Detector:
    """Runs the model on single pictures."""

    def __init__(
        self, engine: Engine, model: MaskRCNN, split: Split, hyperparameters: Hyperparameters
    ) -> None:
        self._device = engine.device
        self._model = model
        self._category_ids = list(split.categories)
        self._precision = AUTOCAST_TYPES[hyperparameters.precision]

    @torch.inference_mode()
    def detect(self, record: Record, pixels: Tensor) -> list[Detection]:
        """Detect in one picture.

        Args:
            pixels: (3, H, W) uint8, the resized picture.
        """
        height, width = pixels.shape[1:]
        padding = (0, -width % STRIDE, 0, -height % STRIDE)
        batch = torch.nn.functional.pad(pixels.to(self._device), padding)[None]
        self._model.eval()
        with autocast(self._device, self._precision):
            (found,) = self._model(batch, [(height, width)])
        self._model.train()
        return to_coco(found, record, resized=(height, width), category_ids=self._category_ids)


def to_coco(
    found: Detections, record: Record, *, resized: tuple[int, int], category_ids: list[int]
) -> list[Detection]:
    """Bring detections back to the size of the picture's file, in COCO's result format."""
    original = (record.height, record.width)
    scale = torch.tensor([original[1] / resized[1], original[0] / resized[0]] * 2)
    boxes = found["boxes"].float().cpu() * scale
    rles = _encode(found["masks"].float().cpu(), boxes, original)
    corners = boxes.tolist()
    return [
        {
            "image_id": record.image_id,
            "category_id": category_ids[label - 1],
            "bbox": [left, top, right - left, bottom - top],
            "score": score,
            "segmentation": rle,
        }
        for label, score, rle, (left, top, right, bottom) in zip(
            found["labels"].tolist(), found["scores"].tolist(), rles, corners, strict=True
        )
    ]


def _encode(probabilities: Tensor, boxes: Tensor, size: tuple[int, int]) -> list[dict[str, object]]:
    """Paste masks into pictures of the given size and run-length encode them.

    Args:
        probabilities: (D, 1, 28, 28) within the boxes.
        boxes: (D, 4) float32, xyxy.
    """
    rles: list[dict[str, object]] = []
    for part, part_boxes in zip(
        torch.split(probabilities, MASKS_AT_ONCE), torch.split(boxes, MASKS_AT_ONCE), strict=True
    ):
        drawn = paste_masks_in_image(part, part_boxes, size)[:, 0] > 0.5
        columns_first = np.asfortranarray(drawn.numpy().astype(np.uint8).transpose(1, 2, 0))
        rles.extend(
            {"size": rle["size"], "counts": rle["counts"].decode("ascii")}
            for rle in coco_mask.encode(columns_first)
        )
    return rles


def write_predictions(path: Path, split: Split, detections: list[Detection], *, step: int) -> None:
    """Write predictions.json, with the first pictures only where there are many."""
    shown = {record.image_id for record in split.records[:PREDICTED_PICTURES]}
    document = {
        "split": split.name,
        "step": step,
        "detections": [d for d in detections if d["image_id"] in shown],
    }
    write_atomically(path, json.dumps(document).encode())
