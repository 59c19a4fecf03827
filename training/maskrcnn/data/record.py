"""One picture with its annotations, as training and evaluation see it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from training.maskrcnn.data.store import PictureStore
from training.maskrcnn.data.table import Table

Outline = list[list[float]] | dict[str, Any]
"""Polygons, each x, y, x, y, ... in pixels; or a run-length encoding with `size` and `counts`."""


@dataclass(frozen=True, slots=True)
class Record:
    """One picture with its annotations, in pixels of the picture's file.

    It is made when it is asked for, of views into the table: nothing is kept for each picture.
    """

    image_id: int
    name: str
    """Its `file_name`."""
    height: int
    width: int
    boxes: NDArray[np.float32]
    """(N, 4) xyxy, cut at the picture's frame."""
    labels: NDArray[np.int64]
    """(N,) from 1, by rising category id."""
    is_crowd: NDArray[np.bool_]
    """(N,): the annotation stands for a group of objects."""
    areas: NDArray[np.float64]
    """(N,) as annotated; evaluation sorts objects by size with it."""
    store: PictureStore
    table: Table
    row: int
    """In the table."""

    @property
    def file(self) -> Path:
        """Where the picture is; in a shard, the shard with the member's name below it."""
        return self.store.place(self.image_id, self.name)

    def read(self) -> bytes:
        """Return the picture's file.

        Raises:
            OSError: It cannot be read.
        """
        return self.store.read(self.image_id, self.name)

    def outlines(self) -> list[Outline]:
        """Return the N outlines."""
        return self.table.outlines(self.row)


def make_record(table: Table, row: int, store: PictureStore) -> Record:
    """Return the picture of one row."""
    found = slice(*table.span(row))
    return Record(
        image_id=int(table.image_ids[row]),
        name=table.name(row),
        height=int(table.heights[row]),
        width=int(table.widths[row]),
        boxes=table.boxes[found],
        labels=table.labels[found],
        is_crowd=table.is_crowd[found],
        areas=table.areas[found],
        store=store,
        table=table,
        row=row,
    )
