"""Records to pictures with targets."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor
from torch.utils.data import Dataset

from training.errors import JobFailed
from training.maskrcnn.data import masks
from training.maskrcnn.data.batch import Picture, Target
from training.maskrcnn.data.mask_crops import MaskCrops
from training.maskrcnn.data.pictures import BrokenPicture, load, resized_size
from training.maskrcnn.data.record import Record
from training.maskrcnn.data.sampler import Draw
from training.maskrcnn.hyperparameters import Hyperparameters


class NoUsablePicture(JobFailed):
    """Too many pictures in a row are broken.

    The loader makes a worker's error anew from the text of its traceback, of which users are to see
    the last line alone: what stands behind the name of the class.
    """

    def __init__(self, message: str) -> None:
        super().__init__(message.rpartition(f"{type(self).__name__}: ")[2].strip())


class TrainingPictures(Dataset[Picture]):
    """Pictures at a random size, some mirrored, each with its target.

    What is random about a picture follows from the seed, the pass over the data and the picture:
    no generator is carried along, so that resuming and another number of ranks change nothing.
    """

    def __init__(self, records: Sequence[Record], hyperparameters: Hyperparameters) -> None:
        self._records = records
        self._hyperparameters = hyperparameters

    def __getitem__(self, draw: Draw) -> Picture:
        """Return the picture, or the next one that can be decoded."""
        broken: list[str] = []
        # One more than the limit on broken pictures: then the run stops anyway.
        for offset in range(self._hyperparameters.max_broken_pictures + 1):
            index = (draw.record + offset) % len(self._records)
            try:
                return self._load(draw._replace(record=index), tuple(broken))
            except BrokenPicture as error:
                broken.append(str(error))
        raise NoUsablePicture(
            f"more than max_broken_pictures {self._hyperparameters.max_broken_pictures} pictures "
            f"in a row cannot be used: {broken[0]}"
        )

    def _load(self, draw: Draw, broken: tuple[str, ...]) -> Picture:
        record = self._records[draw.record]
        random = np.random.default_rng(
            [self._hyperparameters.seed, draw.data_pass, draw.record, draw.copy]
        )
        size = resized_size(
            (record.height, record.width),
            short_side=self._draw_short_side(random),
            max_side=self._hyperparameters.image_max_side,
        )
        is_mirrored = bool(random.random() < self._hyperparameters.flip_probability)
        return Picture(
            pixels=load(record, size, is_mirrored=is_mirrored),
            target=_make_target(
                record,
                size,
                is_mirrored,
                has_masks=self._hyperparameters.mode_mask,
                seed=int(random.integers(2**62)),
            ),
            image_id=record.image_id,
            file=str(record.file),
            broken=broken,
        )

    def _draw_short_side(self, random: np.random.Generator) -> int:
        sides = self._hyperparameters.image_short_sides
        if self._hyperparameters.short_side_sampling == "range":
            smallest, largest = sides
            return int(random.integers(smallest, largest, endpoint=True))
        return int(random.choice(sides))


class EvaluationPictures:
    """Pictures at one size, without targets."""

    def __init__(self, records: Sequence[Record], hyperparameters: Hyperparameters) -> None:
        self._records = records
        self._short_side = max(hyperparameters.image_short_sides)
        self._max_side = hyperparameters.image_max_side

    def __len__(self) -> int:
        return len(self._records)

    def __getitem__(self, index: int) -> tuple[Record, Tensor]:
        """Return a record and its pixels, (3, H, W) uint8.

        Raises:
            BrokenPicture: The file cannot be used.
        """
        record = self._records[index]
        size = resized_size(
            (record.height, record.width), short_side=self._short_side, max_side=self._max_side
        )
        return record, load(record, size)


def _make_target(
    record: Record, size: tuple[int, int], is_mirrored: bool, *, has_masks: bool, seed: int
) -> Target:
    height, width = size
    boxes = record.boxes * np.array(
        [width / record.width, height / record.height] * 2, dtype=np.float32
    )
    if is_mirrored:
        boxes[:, [0, 2]] = width - boxes[:, [2, 0]]
    is_object = ~record.is_crowd
    drawn = MaskCrops.none(int(is_object.sum()))
    if has_masks:
        pairs = zip(record.outlines(), is_object, strict=True)
        outlines = [outline for outline, keep in pairs if keep]
        original = (record.height, record.width)
        drawn = masks.draw(outlines, original, size, is_mirrored=is_mirrored)
    return Target(
        boxes=torch.from_numpy(boxes[is_object]),
        labels=torch.from_numpy(record.labels[is_object]),
        masks=drawn,
        crowds=torch.from_numpy(boxes[record.is_crowd]),
        seed=seed,
    )
