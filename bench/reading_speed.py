"""Loading, decoding and augmenting on one core, against torchvision's CocoDetection."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import torch
from PIL import Image

from bench.reference import reference_pictures
from bench.timing import Command, Comparison
from training.layout import TrainChannel
from training.maskrcnn.data.coco import read_split
from training.maskrcnn.data.dataset import TrainingPictures
from training.maskrcnn.data.sampler import Draw
from training.maskrcnn.hyperparameters import Hyperparameters, read_hyperparameters

AT_MOST = 0.5
"""Of the reference's time."""
SPLIT = "train2017"


@dataclass(frozen=True)
class Case:
    """A set at a training size."""

    label: str
    channel: TrainChannel
    short_side: int
    max_side: int


def measure(case: Case, *, runs: int, progress: Callable[[str], None]) -> Comparison:
    """Read all pictures with both in turn."""
    ours, reference = our_pictures(case), their_pictures(case)
    number = len(reference)
    ours_s: list[float] = []
    theirs_s: list[float] = []
    for run in range(-1, runs):
        theirs = _time(reference[index] for index in range(number))
        mine = _time(ours[Draw(index, max(run, 0))] for index in range(number))
        if run >= 0:
            theirs_s.append(theirs / number)
            ours_s.append(mine / number)
            progress(f"{case.label}: pair {run + 1} of {runs}")
    return Comparison(
        Command(f"ours, {case.label}", ()),
        Command("CocoDetection, a picture", ()),
        tuple(ours_s),
        tuple(theirs_s),
        AT_MOST,
    )


def _time(pictures: Iterator[Any]) -> float:
    """Return the processor's seconds: others may use the machine as well."""
    begin = time.process_time()
    for _ in pictures:
        pass
    return time.process_time() - begin


def settings(case: Case, flip_probability: float = 0.5) -> Hyperparameters:
    """Return hyperparameters that read as the reference does."""
    return read_hyperparameters(
        {
            "image_short_sides": [case.short_side],
            "image_max_side": case.max_side,
            "flip_probability": flip_probability,
            "num_workers": 0,
        },
        source="bench",
    )


def our_pictures(case: Case, flip_probability: float = 0.5) -> TrainingPictures:
    torch.set_num_threads(1)
    records = read_split(case.channel, SPLIT).records.with_objects()
    return TrainingPictures(records, settings(case, flip_probability))


def their_pictures(case: Case, flip_probability: float = 0.5) -> Any:
    return reference_pictures(
        case.channel.images(SPLIT),
        case.channel.annotations(SPLIT),
        short_sides=[case.short_side],
        max_side=case.max_side,
        flip_probability=flip_probability,
    )


def enlarge(source: TrainChannel, target: TrainChannel, factor: int) -> TrainChannel:
    """Write a set again with pictures so many times as wide and high: as cameras take them."""
    import json

    document = json.loads(source.annotations(SPLIT).read_bytes())
    target.images(SPLIT).mkdir(parents=True)
    target.annotations(SPLIT).parent.mkdir()
    for image in document["images"]:
        with Image.open(source.images(SPLIT) / image["file_name"]) as picture:
            size = (picture.width * factor, picture.height * factor)
            large = picture.resize(size, Image.Resampling.BICUBIC)
        large.save(target.images(SPLIT) / image["file_name"], quality=90)
        image.update(width=size[0], height=size[1])
    document["annotations"] = [
        {
            **annotation,
            "bbox": [side * factor for side in annotation["bbox"]],
            "segmentation": [
                [side * factor for side in polygon] for polygon in annotation["segmentation"]
            ],
        }
        for annotation in document["annotations"]
        if not annotation["iscrowd"]
    ]
    target.annotations(SPLIT).write_text(json.dumps(document), encoding="utf-8")
    return target
