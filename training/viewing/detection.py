"""Detects in a few pictures with the newest checkpoint of our trainer."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from training.errors import JobFailed
from training.maskrcnn.data.pictures import BrokenPicture, load, resized_size
from training.maskrcnn.data.record import Record
from training.maskrcnn.detect import Detector
from training.maskrcnn.device import choose_device, choose_precision
from training.maskrcnn.found import Found
from training.maskrcnn.model_file import TrainedModel, load_model
from training.told import Told

Say = Callable[[str], None]


def load_newest(checkpoints: Sequence[Path], say: Say) -> TrainedModel:
    """Return the model of the newest checkpoint that is whole.

    Args:
        checkpoints: The newest first.
        say: Told which it is, and which were passed over: one may be removed by the job that
            saves newer ones, or be damaged.

    Raises:
        Told: There is none, or none can be read.
    """
    if not checkpoints:
        raise Told("there is no checkpoint yet: the job saves the first after an epoch")
    device = choose_device(None)
    for path in checkpoints:
        try:
            trained = load_model(path, device)
        except JobFailed as error:
            say(f"passed over: {error}")
            continue
        say(f"model: {path}, on {device}")
        return trained
    raise Told(f"none of {len(checkpoints)} checkpoints in {checkpoints[0].parent} can be read")


def detect(trained: TrainedModel, records: Sequence[Record], say: Say) -> Found:
    """Detect in pictures, at the size at which the trainer evaluates.

    Args:
        say: Told of each picture, since one takes seconds on a CPU.
    """
    device = next(trained.model.parameters()).device
    settings = trained.hyperparameters
    detector = Detector(
        trained.model,
        device,
        precision=choose_precision(None, settings, device),
        category_ids=list(trained.categories),
    )
    found = []
    for number, record in enumerate(records, start=1):
        size = resized_size(
            (record.height, record.width),
            short_side=max(settings.image_short_sides),
            max_side=settings.image_max_side,
        )
        try:
            pixels = load(record, size)
        except BrokenPicture as error:
            say(f"left out: {error}")
            continue
        found.append(detector.locate(detector.look(pixels), record, pixels))
        say(f"{number} of {len(records)}: {record.name}, {len(found[-1])} detections")
    return Found.joined(found, with_masks=all(part.masks is not None for part in found))
