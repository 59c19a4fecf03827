"""Detecting in single pictures: the model's answers at the size of the picture's file."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np
import torch
from torch import Tensor

from training.maskrcnn.data.batch import STRIDE
from training.maskrcnn.found import Detection, Found
from training.maskrcnn.model.maskrcnn import Detections, MaskRCNN
from training.maskrcnn.paste import paste
from training.maskrcnn.step import autocast


class Frame(Protocol):
    """The picture that detections belong to; a `Record` is one."""

    @property
    def image_id(self) -> int: ...

    @property
    def height(self) -> int:
        """Of the picture's file, pixels."""

    @property
    def width(self) -> int: ...


class Detector:
    """Runs a model on single pictures, so that no result depends on other pictures."""

    def __init__(
        self,
        model: MaskRCNN,
        device: torch.device,
        *,
        precision: torch.dtype,
        category_ids: Sequence[int],
    ) -> None:
        """Detect with a model that is on the device and in evaluation mode.

        Args:
            precision: Of the network: float32, or what autocast mixes with it.
            category_ids: Of the model's labels, in their order.
        """
        self._model = model
        self._device = device
        self._precision = precision
        self._category_ids = category_ids

    def detect(self, frame: Frame, pixels: Tensor) -> list[Detection]:
        """Detect in one picture.

        Args:
            frame: The picture's id, and its size before it was scaled.
            pixels: (3, H, W) uint8, RGB, the scaled picture.
        """
        return self.locate(self.look(pixels), frame, pixels).to_coco()

    @torch.inference_mode()
    def look(self, pixels: Tensor) -> Detections:
        """Return the model's own answer, on the device.

        Args:
            pixels: (3, H, W) uint8, RGB, the scaled picture.
        """
        height, width = pixels.shape[1:]
        padding = (0, -width % STRIDE, 0, -height % STRIDE)
        batch = torch.nn.functional.pad(pixels.to(self._device), padding)[None]
        with autocast(self._device, self._precision):
            (answer,) = self._model(batch, [(height, width)])
        return answer  # type: ignore[no-any-return]

    def locate(self, answer: Detections, frame: Frame, pixels: Tensor) -> Found:
        """Bring an answer back to the size of the picture's file."""
        resized = (pixels.shape[1], pixels.shape[2])
        return to_file_size(answer, frame, resized=resized, category_ids=self._category_ids)


@torch.inference_mode()
def to_file_size(
    answer: Detections, frame: Frame, *, resized: tuple[int, int], category_ids: Sequence[int]
) -> Found:
    """Bring detections back to the size of the picture's file.

    Args:
        answer: In pixels of the resized picture; without `masks`, none are drawn.
        resized: Height and width of that.
        category_ids: Of the model's labels, in their order.
    """
    scale = torch.tensor([frame.width / resized[1], frame.height / resized[0]] * 2)
    boxes = answer["boxes"].float().cpu() * scale
    corners = boxes.double().numpy()
    labels = answer["labels"].cpu().numpy()
    return Found(
        image_ids=np.full(len(labels), frame.image_id, np.int64),
        category_ids=np.array(category_ids, np.int64)[labels - 1],
        boxes=np.concatenate([corners[:, :2], corners[:, 2:] - corners[:, :2]], axis=1),
        scores=answer["scores"].double().cpu().numpy(),
        masks=paste(answer["masks"].float().cpu(), boxes, (frame.height, frame.width))
        if "masks" in answer
        else None,
    )
