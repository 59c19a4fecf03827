"""What became of each object: found, taken for another class, or missed.

Average precision looks at one category at a time and at all scores. This is the other view, of
what a user of the model sees: the detections with a good score, all categories together.

Detections of a picture take objects in the order of their scores, first those of their own
category, as pycocotools matches at that IoU; a detection that finds none in a crowd of its category
is left out, as there. Of what remains, detections take objects of other categories: confusions.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np
from hotcoco import mask as quick_mask
from numpy.typing import NDArray

from training.maskrcnn.coco_eval import IouType
from training.maskrcnn.data.masks import to_rle
from training.maskrcnn.data.record import Record
from training.maskrcnn.found import Found
from training.report.dataset import MIN_SCORE

MIN_IOU = 0.5
"""A detection that overlaps an object less has not found it."""

Places = NDArray[np.int64]
Pairs = tuple[Places, Places]
"""(P,) places of detections, and (P,) of the objects that they took."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Matches:
    """Of N pictures and K categories, whose places are `0` to `K - 1`."""

    image_ids: NDArray[np.int64]
    """(N,)"""
    right: NDArray[np.int64]
    """(N,) objects found as what they are."""
    wrong: NDArray[np.int64]
    """(N,) detections of what is not there, or is another thing."""
    missed: NDArray[np.int64]
    """(N,) objects not found, or found as another thing."""
    confusion: NDArray[np.int64]
    """(K + 1, K + 1) objects of each category (row) by what they were taken for (column). The last
    row: detections where no object is; the last column: objects without a detection."""

    @classmethod
    def joined(cls, parts: Sequence[Matches], *, categories: int) -> Self:
        """Return several as one, by rising image id.

        Args:
            categories: K.
        """
        none = np.zeros(0, np.int64)
        size = categories + 1
        image_ids = np.concatenate([none, *(part.image_ids for part in parts)])
        order = np.argsort(image_ids, kind="stable")
        return cls(
            image_ids=image_ids[order],
            right=np.concatenate([none, *(part.right for part in parts)])[order],
            wrong=np.concatenate([none, *(part.wrong for part in parts)])[order],
            missed=np.concatenate([none, *(part.missed for part in parts)])[order],
            confusion=sum((part.confusion for part in parts), np.zeros((size, size), np.int64)),
        )

    def f1(self) -> NDArray[np.float64]:
        """Return of each picture the harmonic mean of precision and recall; NaN without objects."""
        both = 2 * self.right + self.wrong + self.missed
        has_objects = self.right + self.missed > 0
        return np.where(has_objects, 2 * self.right / np.maximum(both, 1), np.nan)


def match(
    records: Iterable[Record], categories: Mapping[int, str], found: Found, *, kind: IouType
) -> Matches:
    """Match the detections of some pictures with their objects.

    Args:
        categories: All, by rising id.
        found: Of these pictures, or of more.
        kind: What overlaps: boxes or masks.
    """
    strong = found.at_least(MIN_SCORE)
    strong = strong.some(np.lexsort((-strong.scores, strong.image_ids)))
    category_ids = np.array(list(categories), np.int64)
    size = len(categories) + 1
    confusion = np.zeros((size, size), np.int64)
    rows: list[tuple[int, int, int, int]] = []
    for record in records:
        begin, end = np.searchsorted(strong.image_ids, [record.image_id, record.image_id + 1])
        own = strong.some(np.arange(begin, end))
        one = _Picture(
            truth=record.labels - 1,
            is_crowd=record.is_crowd,
            taken_for=np.searchsorted(category_ids, own.category_ids),
            overlaps=_overlaps(record, own, kind),
        )
        rows.append((record.image_id, *_count(one, confusion)))
    numbers = np.array(rows, np.int64).reshape(-1, 4)
    return Matches(
        image_ids=numbers[:, 0],
        right=numbers[:, 1],
        wrong=numbers[:, 2],
        missed=numbers[:, 3],
        confusion=confusion,
    )


@dataclass(frozen=True, kw_only=True, eq=False)
class _Picture:
    """G objects and crowds, and D detections, the best first."""

    truth: Places
    """(G,) category."""
    is_crowd: NDArray[np.bool_]
    """(G,)"""
    taken_for: Places
    """(D,) category."""
    overlaps: NDArray[np.float64]
    """(D, G) IoU; with a crowd, the share of the detection that is in it."""


def _count(one: _Picture, confusion: NDArray[np.int64]) -> tuple[int, int, int]:
    """Add a picture to the confusion; return how many are right, wrong and missed."""
    is_same = one.taken_for[:, None] == one.truth[None, :]
    detections, objects = _pair(np.where(is_same & ~one.is_crowd, one.overlaps, 0))
    np.add.at(confusion, (one.truth[objects], one.taken_for[detections]), 1)
    in_crowd = np.where(is_same & one.is_crowd, one.overlaps, 0) >= MIN_IOU
    is_wrong = np.ones(len(one.taken_for), np.bool_)
    is_wrong[np.nonzero(in_crowd)[0]] = False
    is_missed = ~one.is_crowd
    is_wrong[detections] = False
    is_missed[objects] = False
    counts = (len(objects), int(is_wrong.sum()), int(is_missed.sum()))

    detections, objects = _pair(np.where(is_wrong[:, None] & is_missed, one.overlaps, 0))
    np.add.at(confusion, (one.truth[objects], one.taken_for[detections]), 1)
    is_wrong[detections] = False
    is_missed[objects] = False
    np.add.at(confusion[-1], one.taken_for[is_wrong], 1)
    np.add.at(confusion[:, -1], one.truth[is_missed], 1)
    return counts


def _pair(overlaps: NDArray[np.float64]) -> Pairs:
    """Give each detection in turn the free object that it overlaps most, if it does so enough.

    Args:
        overlaps: (D, G) IoU.
    """
    detections, objects = [], []
    enough = overlaps >= MIN_IOU
    for detection in np.flatnonzero(enough.any(axis=1)).tolist():
        free = np.where(enough[detection], overlaps[detection], 0)
        # Of equal ones pycocotools takes the last.
        best = len(free) - 1 - int(np.argmax(free[::-1]))
        if free[best] > 0:
            detections.append(detection)
            objects.append(best)
            enough[:, best] = False
    return np.array(detections, np.int64), np.array(objects, np.int64)


def _overlaps(record: Record, own: Found, kind: IouType) -> NDArray[np.float64]:
    """Return (D, G) IoU; with a crowd, the share of the detection that is in it."""
    if not len(own) or not len(record.labels):
        return np.zeros((len(own), len(record.labels)))
    if kind == "bbox":
        corners = record.boxes.astype(np.float64)
        boxes = np.concatenate([corners[:, :2], corners[:, 2:] - corners[:, :2]], axis=1)
        return quick_mask.bbox_iou(own.boxes, boxes, record.is_crowd)
    assert own.masks is not None
    size = (record.height, record.width)
    outlines = [to_rle(outline, size) for outline in record.outlines()]
    return quick_mask.iou(own.masks.to_coco(), outlines, record.is_crowd)
