"""Count the objects of a set by class and size."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

Size = Literal["small", "medium", "large"]

SIZES: tuple[Size, ...] = ("small", "medium", "large")
SMALL_PX2, MEDIUM_PX2 = 32**2, 96**2
"""Below the first an object is small, below the second medium, as COCO's evaluation has it:
https://cocodataset.org/#detection-eval"""


def size_of(area: float) -> Size:
    """Return COCO's word for an area in square pixels."""
    if area < SMALL_PX2:
        return "small"
    return "medium" if area < MEDIUM_PX2 else "large"


def area_of(annotation: Mapping[str, Any]) -> float:
    """Return a sound annotation's area in square pixels; its box's where none is given."""
    area = annotation.get("area")
    if area is None:
        box = annotation["bbox"]
        return float(box[2] * box[3])
    return float(area)


@dataclass(frozen=True)
class ClassCount:
    """What a set has of one category."""

    category_id: int
    name: str
    objects: int
    """Crowds are not among them."""
    small: int
    medium: int
    large: int
    crowds: int
    pictures: int
    """With an object or a crowd of it."""


@dataclass
class Census:
    """Counts usable annotations, one after the other."""

    objects: int = 0
    crowds: int = 0
    image_ids: set[int] = field(default_factory=set)
    """With an object that is no crowd."""
    _by_kind: Counter[tuple[int, Size | None]] = field(default_factory=Counter)
    """By category id and size; no size for a crowd."""
    _pairs: set[tuple[int, int]] = field(default_factory=set)
    """Category and image."""

    def count(self, annotation: Mapping[str, Any]) -> None:
        """Count an annotation that a trainer can use."""
        category_id, image_id = annotation["category_id"], annotation["image_id"]
        self._pairs.add((category_id, image_id))
        if annotation.get("iscrowd"):
            self.crowds += 1
            self._by_kind[category_id, None] += 1
            return
        self.objects += 1
        self.image_ids.add(image_id)
        self._by_kind[category_id, size_of(area_of(annotation))] += 1

    def used_ids(self) -> Counter[int]:
        """Return how many annotations each category has."""
        used: Counter[int] = Counter()
        for (category_id, _), count in self._by_kind.items():
            used[category_id] += count
        return used

    def classes(self, names: Mapping[int, str]) -> tuple[ClassCount, ...]:
        """Return the counts of each category, those with the most objects first."""
        pictures = Counter(category_id for category_id, _ in self._pairs)
        counts = [
            ClassCount(
                category_id=category_id,
                name=name,
                objects=sum(self._by_kind[category_id, size] for size in SIZES),
                small=self._by_kind[category_id, "small"],
                medium=self._by_kind[category_id, "medium"],
                large=self._by_kind[category_id, "large"],
                crowds=self._by_kind[category_id, None],
                pictures=pictures[category_id],
            )
            for category_id, name in names.items()
        ]
        return tuple(sorted(counts, key=lambda one: (-one.objects, one.category_id)))
