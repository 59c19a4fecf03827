"""The annotations of one file as arrays: a few mapped files instead of millions of objects.

Hundreds of thousands of small Python objects take gigabytes, and would be copied into each loader
process bit by bit as their reference counts move. Arrays that are mapped from files are shared by
all processes of a host: ranks and their workers read the same pages.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, fields
from itertools import pairwise
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

VERSION = 1
"""Rises when files of before can no longer be read, or would be written differently."""

META = "table.json"

# How an outline is kept.
HUNDREDTHS, FLOATS, COMPRESSED, RUNS = range(4)
"""Polygons in hundredths of a pixel, which is how COCO writes them, exact in 16 bits; polygons of
other numbers; a run-length encoding as a string, and as a list of numbers."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Arrays:
    """N pictures by rising id, and their M annotations in the pictures' order."""

    image_ids: NDArray[np.int64]
    """(N,)"""
    heights: NDArray[np.int32]
    widths: NDArray[np.int32]
    """(N,) pixels."""
    names: NDArray[np.uint8]
    """All `file_name`, in UTF-8, one after the other."""
    name_starts: NDArray[np.int64]
    """(N + 1,) places in `names`."""
    starts: NDArray[np.int64]
    """(N + 1,) places among the annotations."""
    boxes: NDArray[np.float32]
    """(M, 4) xyxy, pixels, cut at the frame."""
    labels: NDArray[np.int64]
    """(M,) from 1."""
    is_crowd: NDArray[np.bool_]
    areas: NDArray[np.float64]
    """(M,) square pixels, as annotated."""
    outline_kinds: NDArray[np.uint8]
    """(M,) one of the kinds above."""
    outline_starts: NDArray[np.int64]
    """(M,) place in the array of the kind."""
    polygon_starts: NDArray[np.int64]
    """(M + 1,) places in `polygon_lengths`; an encoding has one entry there as well."""
    polygon_lengths: NDArray[np.int32]
    """Numbers of a polygon, characters or numbers of an encoding."""
    hundredths: NDArray[np.uint16]
    floats: NDArray[np.float64]
    compressed: NDArray[np.uint8]
    """ASCII."""
    runs: NDArray[np.int64]


class Table(Arrays):
    """The arrays with what is read from them."""

    categories: Mapping[int, str]
    """Category id to name, by rising id."""
    skipped: tuple[str, ...]
    """Which annotations cannot be used, and why."""
    folder: Path | None
    """Of the mapped files; None where the arrays are this process's own."""

    def __init__(
        self,
        arrays: Mapping[str, NDArray[Any]],
        categories: Mapping[int, str],
        skipped: tuple[str, ...],
        folder: Path | None = None,
    ) -> None:
        super().__init__(**arrays)
        object.__setattr__(self, "categories", categories)
        object.__setattr__(self, "skipped", skipped)
        object.__setattr__(self, "folder", folder)

    def __len__(self) -> int:
        return len(self.image_ids)

    def __reduce__(self) -> tuple[Any, ...]:
        """Hand a mapped table to another process as its folder: the pages stay shared."""
        if self.folder is not None:
            return Table.open, (self.folder,)
        arrays = {name: getattr(self, name) for name in ARRAY_NAMES}
        return Table, (arrays, self.categories, self.skipped)

    def span(self, row: int) -> tuple[int, int]:
        """Return the places of a picture's annotations."""
        return int(self.starts[row]), int(self.starts[row + 1])

    def name(self, row: int) -> str:
        """Return a picture's `file_name`."""
        begin, end = self.name_starts[row], self.name_starts[row + 1]
        return self.names[begin:end].tobytes().decode("utf-8", "surrogatepass")

    def all_names(self) -> list[str]:
        text = self.names.tobytes()
        places = self.name_starts.tolist()
        return [text[begin:end].decode("utf-8", "surrogatepass") for begin, end in pairwise(places)]

    def object_counts(self) -> NDArray[np.int64]:
        """Return how many annotations each picture has that are no crowds: (N,)."""
        so_far = np.concatenate([[0], np.cumsum(~self.is_crowd)])
        counts: NDArray[np.int64] = so_far[self.starts[1:]] - so_far[self.starts[:-1]]
        return counts

    def outlines(self, row: int) -> list[Any]:
        """Return a picture's outlines, as COCO writes them."""
        size = [int(self.heights[row]), int(self.widths[row])]
        return [self._outline(place, size) for place in range(*self.span(row))]

    def _outline(self, place: int, size: list[int]) -> Any:
        kind = self.outline_kinds[place]
        lengths = self.polygon_lengths[self.polygon_starts[place] : self.polygon_starts[place + 1]]
        begin = int(self.outline_starts[place])
        end = begin + int(lengths.sum())
        if kind == COMPRESSED:
            return {"size": size, "counts": self.compressed[begin:end].tobytes().decode("ascii")}
        if kind == RUNS:
            return {"size": size, "counts": self.runs[begin:end].tolist()}
        # The nearest number to so many hundredths is the very one that JSON's text stands for.
        values = (
            self.hundredths[begin:end] / 100 if kind == HUNDREDTHS else self.floats[begin:end]
        ).tolist()
        polygons, at = [], 0
        for length in lengths.tolist():
            polygons.append(values[at : at + length])
            at += length
        return polygons

    def save(self, folder: Path) -> None:
        """Write to an empty folder, through to the disk."""
        for name in ARRAY_NAMES:
            with (folder / f"{name}.npy").open("wb") as file:
                np.save(file, getattr(self, name), allow_pickle=False)
                file.flush()
                os.fsync(file.fileno())
        meta = {
            "version": VERSION,
            "categories": list(self.categories.items()),
            "skipped": self.skipped,
        }
        with (folder / META).open("w", encoding="utf-8") as file:
            json.dump(meta, file)
            file.flush()
            os.fsync(file.fileno())

    @classmethod
    def open(cls, folder: Path) -> Self:
        """Map a saved table.

        Raises:
            OSError, EOFError, ValueError, KeyError, TypeError: It is not there, or damaged.
        """
        meta = json.loads((folder / META).read_bytes())
        if meta["version"] != VERSION:
            raise ValueError(f"{folder}: version {meta['version']}")
        arrays = {name: _map(folder / f"{name}.npy") for name in ARRAY_NAMES}
        categories = {int(key): str(name) for key, name in meta["categories"]}
        return cls(arrays, categories, tuple(meta["skipped"]), folder)


ARRAY_NAMES = tuple(field.name for field in fields(Arrays))


def _map(path: Path) -> NDArray[Any]:
    mapped = np.load(path, mmap_mode="r", allow_pickle=False)
    # Slicing a memmap takes several times as long as slicing the plain array that it is.
    plain: NDArray[Any] = mapped.view(np.ndarray)
    return plain
