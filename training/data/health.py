"""What a check found out about a set."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

from training.data.census import Census, ClassCount
from training.data.exhibits import Exhibit
from training.data.picture_file import NoPicture, Picture
from training.data.picture_store import PictureStore
from training.data.pictures import PictureCounts
from training.data.rules import Rule
from training.data.splits import Split
from training.data.tally import Fault, Tally
from training.preflight.finding import Finding, Severity


class SplitHealth:
    """One split: filled step by step while it is looked at, then read."""

    def __init__(self, split: Split, *, skip_bad_annotations: bool) -> None:
        self.split = split
        self.folder = split.folders[0]
        """Of its pictures."""
        self.is_coco = True
        """Its annotation file could be read."""
        self.images = 0
        """Entries of images; as of annotations, bad ones too."""
        self.annotations = 0
        self.categories: Mapping[int, str] = {}
        self.groups: Mapping[int, str] = {}
        """Categories that are the supercategory of others."""
        self.census = Census()
        self.names: frozenset[str] = frozenset()
        """file_name of each sound entry of images."""
        self.store: PictureStore | None = None
        """Of its pictures; None where none was looked for."""
        self.counts: PictureCounts | None = None
        """None where the pictures could not be read."""
        self.of_file: list[Finding] = []
        """About the annotation file as a whole."""
        self.of_content: list[Finding] = []
        self.of_folder: list[Finding] = []
        self.tally = Tally(str(split.annotations), skip_bad_annotations)
        self.picture_tally = Tally(str(self.folder), skip_bad_annotations)
        self.exhibits: tuple[Exhibit, ...] = ()

    def findings(self) -> Iterator[Finding]:
        """Yield one finding a kind of fault."""
        yield from self.of_file
        yield from self.tally.findings()
        yield from self.of_content
        yield from self.of_folder
        yield from self.picture_tally.findings()

    @property
    def can_be_cleaned(self) -> bool:
        return self.is_coco and (self.store is None or self.store.is_loose)

    def known_files(self) -> Mapping[str, Picture | NoPicture]:
        """Return what each loose picture is; nothing where they are in shards."""
        if self.counts is None or self.store is None or not self.store.is_loose:
            return {}
        return self.counts.known

    def faults(self) -> Iterator[tuple[Rule, Severity, Fault]]:
        """Yield each kind of fault with its places."""
        for tally in (self.tally, self.picture_tally):
            for rule, fault in tally.faults.items():
                yield rule, tally.severity(rule), fault

    def classes(self) -> tuple[ClassCount, ...]:
        return self.census.classes(self.categories)

    def unused_ids(self) -> list[int]:
        """Return the holes between the lowest and the highest category id, the first thousand."""
        ids = sorted(self.categories)
        holes: list[int] = []
        for low, high in pairwise(ids):
            holes += range(low + 1, min(high, low + 1001))
        return holes[:1000]

    def to_json(self) -> dict[str, Any]:
        counts = self.counts or PictureCounts()
        classes = self.classes()
        return {
            "split": self.split.name,
            "annotations_file": str(self.split.annotations),
            "pictures_folder": str(self.folder),
            "images": self.images,
            "images_without_object": len(self.names) - len(self.census.image_ids),
            "annotations": self.annotations,
            "objects": self.census.objects,
            "crowds": self.census.crowds,
            "by_size": {
                size: sum(getattr(one, size) for one in classes)
                for size in ("small", "medium", "large")
            },
            "classes": [asdict(one) for one in classes],
            "category_id_holes": self.unused_ids(),
            "picture_bytes": counts.total_bytes,
            "picture_kinds": dict(counts.kinds.most_common()),
            "picture_sizes": frame_range(counts.frames),
            "faults": [
                {
                    "code": rule.code,
                    "severity": severity,
                    "count": fault.count,
                    "places": fault.places,
                }
                for rule, severity, fault in self.faults()
            ],
        }


@dataclass(frozen=True)
class Health:
    """A whole set."""

    splits: tuple[SplitHealth, ...]
    of_set: tuple[Finding, ...]
    """About the splits beside each other."""

    @property
    def findings(self) -> tuple[Finding, ...]:
        return (*(found for split in self.splits for found in split.findings()), *self.of_set)

    @property
    def errors(self) -> int:
        """How many kinds of error there are."""
        return sum(finding.severity == "error" for finding in self.findings)

    def to_json(self, root: Path) -> dict[str, Any]:
        return {
            "set": str(root),
            "errors": self.errors,
            "findings": [finding.to_json() for finding in self.findings],
            "splits": [split.to_json() for split in self.splits],
        }


def frame_range(frames: Counter[tuple[int, int]]) -> dict[str, Any] | None:
    """Return the smallest, middle and largest picture by pixels; None where there is none."""
    if not frames:
        return None
    ordered = sorted(frames, key=lambda frame: (frame[0] * frame[1], frame))
    half, passed = (frames.total() + 1) // 2, 0
    middle = ordered[0]
    for middle in ordered:
        passed += frames[middle]
        if passed >= half:
            break
    return {
        "smallest": list(ordered[0]),
        "median": list(middle),
        "largest": list(ordered[-1]),
        "different": len(frames),
    }
