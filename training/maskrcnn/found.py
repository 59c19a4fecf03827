"""Detections as arrays: half a million of them are a few buffers, not millions of objects."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

Detection = dict[str, Any]
"""In COCO's result format: `image_id`, `category_id`, `bbox` (x, y, width, height), `score`,
`segmentation` (compressed run-length encoding); the last one only where the model draws masks."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Masks:
    """D run-length encodings, compressed as COCO does it."""

    sizes: NDArray[np.int32]
    """(D, 2) height and width of the picture."""
    counts: NDArray[np.uint8]
    """ASCII, one after the other."""
    starts: NDArray[np.int64]
    """(D + 1,) places in `counts`."""

    @classmethod
    def of(cls, rles: Sequence[dict[str, Any]]) -> Self:
        """Pack what pycocotools encodes; its counts may be text or bytes."""
        texts = [rle["counts"] for rle in rles]
        texts = [text.encode("ascii") if isinstance(text, str) else text for text in texts]
        return cls(
            sizes=np.array([rle["size"] for rle in rles], np.int32).reshape(-1, 2),
            counts=np.frombuffer(b"".join(texts), np.uint8),
            starts=np.cumsum([0, *map(len, texts)], dtype=np.int64),
        )

    @classmethod
    def joined(cls, parts: Sequence[Masks]) -> Self:
        lengths = [np.diff(part.starts) for part in parts]
        return cls(
            sizes=np.concatenate([np.zeros((0, 2), np.int32), *(part.sizes for part in parts)]),
            counts=np.concatenate([np.zeros(0, np.uint8), *(part.counts for part in parts)]),
            starts=np.cumsum(np.concatenate([np.zeros(1, np.int64), *lengths])),
        )

    def some(self, kept: NDArray[np.int64]) -> Self:
        """Return those at some places, (K,)."""
        spans = [self.counts[self.starts[at] : self.starts[at + 1]] for at in kept]
        return type(self)(
            sizes=self.sizes[kept],
            counts=np.concatenate([np.zeros(0, np.uint8), *spans]),
            starts=np.cumsum([0, *map(len, spans)], dtype=np.int64),
        )

    def to_coco(self) -> list[dict[str, Any]]:
        """Return them as pycocotools takes them, and as JSON can hold them."""
        text = self.counts.tobytes().decode("ascii")
        return [
            {"size": size, "counts": text[begin:end]}
            for size, (begin, end) in zip(
                self.sizes.tolist(), pairwise(self.starts.tolist()), strict=True
            )
        ]


@dataclass(frozen=True, kw_only=True, eq=False)
class Found:
    """D detections in any number of pictures."""

    image_ids: NDArray[np.int64]
    """(D,)"""
    category_ids: NDArray[np.int64]
    """(D,)"""
    boxes: NDArray[np.float64]
    """(D, 4) x, y, width, height; pixels of the picture's file."""
    scores: NDArray[np.float64]
    """(D,)"""
    masks: Masks | None
    """None where the model draws none."""

    def __len__(self) -> int:
        return len(self.scores)

    @classmethod
    def joined(cls, parts: Iterable[Found], *, with_masks: bool) -> Self:
        """Return several, one after the other.

        Args:
            with_masks: All of them have masks; if not, none has.
        """
        parts = list(parts)
        return cls(
            image_ids=np.concatenate([np.zeros(0, np.int64), *(p.image_ids for p in parts)]),
            category_ids=np.concatenate([np.zeros(0, np.int64), *(p.category_ids for p in parts)]),
            boxes=np.concatenate([np.zeros((0, 4)), *(p.boxes for p in parts)]),
            scores=np.concatenate([np.zeros(0), *(p.scores for p in parts)]),
            masks=Masks.joined([p.masks for p in parts if p.masks is not None])
            if with_masks
            else None,
        )

    @classmethod
    def from_coco(cls, detections: Sequence[Detection], *, with_masks: bool = True) -> Self:
        """Pack what is in COCO's result format."""
        return cls(
            image_ids=np.array([d["image_id"] for d in detections], np.int64),
            category_ids=np.array([d["category_id"] for d in detections], np.int64),
            boxes=np.array([d["bbox"] for d in detections], np.float64).reshape(-1, 4),
            scores=np.array([d["score"] for d in detections], np.float64),
            masks=Masks.of([d["segmentation"] for d in detections]) if with_masks else None,
        )

    def of_images(self, image_ids: Sequence[int]) -> Self:
        """Return those of some pictures, by rising image id."""
        kept = np.flatnonzero(np.isin(self.image_ids, np.array(image_ids, np.int64)))
        return self.some(kept[np.argsort(self.image_ids[kept], kind="stable")])

    def at_least(self, score: float) -> Self:
        """Return those with that score or a better one."""
        return self.some(np.flatnonzero(self.scores >= score))

    def some(self, kept: NDArray[np.int64]) -> Self:
        """Return those at some places, (K,)."""
        return type(self)(
            image_ids=self.image_ids[kept],
            category_ids=self.category_ids[kept],
            boxes=self.boxes[kept],
            scores=self.scores[kept],
            masks=None if self.masks is None else self.masks.some(kept),
        )

    def to_coco(self) -> list[Detection]:
        """Return them in COCO's result format."""
        detections: list[Detection] = [
            {"image_id": image_id, "category_id": category_id, "bbox": box, "score": score}
            for image_id, category_id, box, score in zip(
                self.image_ids.tolist(),
                self.category_ids.tolist(),
                self.boxes.tolist(),
                self.scores.tolist(),
                strict=True,
            )
        ]
        if self.masks is not None:
            for detection, rle in zip(detections, self.masks.to_coco(), strict=True):
                detection["segmentation"] = rle
        return detections
