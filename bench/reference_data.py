"""Pictures as torchvision's own detection reference reads them, for comparison.

Written from reading https://github.com/pytorch/vision/tree/release/0.29/references/detection
(`coco_utils.py`, `presets.py`, `group_by_aspect_ratio.py`) with its defaults: PIL pictures, masks
of whole pictures drawn at the file's size, mirrored with probability 0.5, 4 workers, batches of
pictures of like proportions; the model resizes pictures and masks.
"""

from __future__ import annotations

import bisect
import contextlib
import io
import random
from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from pycocotools import mask as coco_mask
from torch import Tensor
from torch.utils.data import DataLoader, Dataset, Sampler
from torchvision.datasets import CocoDetection
from torchvision.transforms import functional as F  # noqa: N812 (its usual name)

from bench.reference_loop import ReferenceBatch, ReferenceTarget

FLIP_PROBABILITY = 0.5
WORKERS = 4
PROPORTION_GROUPS = 3
"""An octave of width over height is cut into so many, from a half to two."""


class ReferencePictures(Dataset[tuple[Tensor, ReferenceTarget]]):
    """Pictures with an object, each with its target; labels from 1 by rising category id."""

    def __init__(self, images: Path, annotations: Path) -> None:
        with contextlib.redirect_stdout(io.StringIO()):
            self._coco = CocoDetection(str(images), str(annotations))
        self._labels = {key: at for at, key in enumerate(sorted(self._coco.coco.cats), start=1)}
        self._keep = [place for place, key in enumerate(self._coco.ids) if self._has_object(key)]

    def __len__(self) -> int:
        return len(self._keep)

    def __getitem__(self, index: int) -> tuple[Tensor, ReferenceTarget]:
        image, annotations = self._coco[self._keep[index]]
        target = self._target([a for a in annotations if not a["iscrowd"]], *image.size)
        if random.random() < FLIP_PROBABILITY:  # noqa: S311 (no secret)
            image = F.hflip(image)
            target["boxes"][:, [0, 2]] = image.width - target["boxes"][:, [2, 0]]
            target["masks"] = target["masks"].flip(-1)
        return F.convert_image_dtype(F.pil_to_tensor(image), torch.float), target

    def proportion(self, index: int) -> float:
        """Return width over height."""
        image = self._coco.coco.imgs[self._coco.ids[self._keep[index]]]
        return float(image["width"] / image["height"])

    def _has_object(self, image_id: int) -> bool:
        return any(
            not annotation["iscrowd"] and min(annotation["bbox"][2:]) > 1
            for annotation in self._coco.coco.imgToAnns[image_id]
        )

    def _target(self, annotations: list[dict[str, Any]], width: int, height: int) -> Any:
        boxes = torch.tensor([a["bbox"] for a in annotations], dtype=torch.float32)
        boxes[:, 2:] += boxes[:, :2]
        boxes[:, 0::2].clamp_(min=0, max=width)
        boxes[:, 1::2].clamp_(min=0, max=height)
        masks = torch.stack([_draw(a["segmentation"], height, width) for a in annotations])
        labels = torch.tensor([self._labels[a["category_id"]] for a in annotations])
        keep = (boxes[:, 2:] > boxes[:, :2]).all(dim=1)
        return {"boxes": boxes[keep], "labels": labels[keep], "masks": masks[keep]}


def _draw(outline: Any, height: int, width: int) -> Tensor:
    parts = coco_mask.decode(coco_mask.frPyObjects(outline, height, width))
    return torch.as_tensor(np.atleast_3d(parts), dtype=torch.uint8).any(dim=2).to(torch.uint8)


class ProportionBatches(Sampler[list[int]]):
    """Batches of pictures of like proportions, in a random order, pass after pass without end.

    A pass of COCO is hours long. A loader that began anew after each pass of a small set would
    wait for its workers every few steps.
    """

    def __init__(self, pictures: ReferencePictures, batch_size: int) -> None:
        edges = 2 ** np.linspace(-1, 1, 2 * PROPORTION_GROUPS + 1)
        self._groups = [
            bisect.bisect_right(edges.tolist(), pictures.proportion(index))
            for index in range(len(pictures))
        ]
        self._batch_size = batch_size

    def __iter__(self) -> Iterator[list[int]]:
        while True:
            yield from self._one_pass()

    def _one_pass(self) -> Iterator[list[int]]:
        waiting: dict[int, list[int]] = defaultdict(list)
        seen: dict[int, list[int]] = defaultdict(list)
        left_to_give = len(self._groups) // self._batch_size
        for index in torch.randperm(len(self._groups)).tolist():
            group = self._groups[index]
            waiting[group].append(index)
            seen[group].append(index)
            if len(waiting[group]) == self._batch_size:
                yield waiting.pop(group)
                left_to_give -= 1
        # What is left is filled up with pictures of the same group that were there before.
        for group, left in sorted(waiting.items(), key=lambda item: -len(item[1])):
            if left_to_give == 0:
                return
            wanted = self._batch_size - len(left)
            yield left + (seen[group] * wanted)[:wanted]
            left_to_give -= 1


def reference_batches(pictures: ReferencePictures, batch_size: int) -> Iterator[ReferenceBatch]:
    """Return batches without end."""
    loader: Any = DataLoader(
        pictures,
        batch_sampler=ProportionBatches(pictures, batch_size),
        num_workers=WORKERS,
        collate_fn=_collate,
    )
    return iter(loader)


def _collate(batch: Sequence[tuple[Tensor, ReferenceTarget]]) -> ReferenceBatch:
    images, targets = zip(*batch, strict=True)
    return images, targets
