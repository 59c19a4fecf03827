"""The pictures of one split or of several, as one sequence that keeps no object for any of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Self, overload

import numpy as np
from numpy.typing import NDArray

from training.maskrcnn.data.record import Record, make_record
from training.maskrcnn.data.store import PictureStore
from training.maskrcnn.data.table import Table


@dataclass(frozen=True)
class Source:
    """A table with the place of its pictures."""

    table: Table
    store: PictureStore


class Records(Sequence[Record]):
    """Records that are made when they are asked for."""

    def __init__(
        self,
        sources: tuple[Source, ...],
        source_of: NDArray[np.int16],
        row_of: NDArray[np.int32],
    ) -> None:
        """Args:
        sources: Where the records come from.
        source_of: (N,) of each record.
        row_of: (N,) in its source's table.
        """
        self._sources = sources
        self._source_of = source_of
        self._row_of = row_of

    @classmethod
    def of(cls, table: Table, store: PictureStore) -> Self:
        """Return all pictures of a table."""
        rows = np.arange(len(table), dtype=np.int32)
        return cls((Source(table, store),), np.zeros(len(table), np.int16), rows)

    @classmethod
    def joined(cls, parts: Sequence[Records]) -> Self:
        """Return several, one after the other."""
        first = np.cumsum([0, *(len(part._sources) for part in parts)])
        return cls(
            tuple(source for part in parts for source in part._sources),
            np.concatenate(
                [part._source_of + at for part, at in zip(parts, first, strict=False)]
            ).astype(np.int16),
            np.concatenate([part._row_of for part in parts]),
        )

    def with_objects(self) -> Self:
        """Return those that have an annotation that is no crowd."""
        keep = np.zeros(len(self), np.bool_)
        for ours, table, rows in self._by_source():
            keep[ours] = table.object_counts()[rows] > 0
        return type(self)(self._sources, self._source_of[keep], self._row_of[keep])

    def groups(self) -> NDArray[np.int64]:
        """Return pictures that lie together as the same number: (N,), from 0."""
        groups = np.zeros(len(self), np.int64)
        begin = 0
        for number, source in enumerate(self._sources):
            ours = self._source_of == number
            ids = source.table.image_ids[self._row_of[ours]]
            groups[ours] = begin + source.store.groups(ids)
            begin = int(groups.max(initial=-1)) + 1
        return groups

    def aspects(self) -> NDArray[np.float64]:
        """Return width over height of each picture: (N,)."""
        aspects = np.empty(len(self))
        for ours, table, rows in self._by_source():
            aspects[ours] = table.widths[rows] / table.heights[rows]
        return aspects

    def object_labels(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return place of the picture and label of every annotation that is no crowd: (M,) each."""
        pictures, labels = [np.empty(0, np.int64)], [np.empty(0, np.int64)]
        for ours, table, rows in self._by_source():
            counts = table.starts[rows + 1] - table.starts[rows]
            before = np.cumsum(counts) - counts
            found = np.arange(counts.sum()) + np.repeat(table.starts[rows] - before, counts)
            found_pictures = np.repeat(np.flatnonzero(ours), counts)
            is_object = ~table.is_crowd[found]
            pictures.append(found_pictures[is_object])
            labels.append(table.labels[found[is_object]])
        return np.concatenate(pictures), np.concatenate(labels)

    def _by_source(self) -> Iterator[tuple[NDArray[np.bool_], Table, NDArray[np.int32]]]:
        """Give which records come from each source, its table, and their rows in it."""
        for number, source in enumerate(self._sources):
            ours = self._source_of == number
            yield ours, source.table, self._row_of[ours]

    def __len__(self) -> int:
        return len(self._row_of)

    @overload
    def __getitem__(self, index: int) -> Record: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[Record, ...]: ...
    def __getitem__(self, index: int | slice) -> Record | tuple[Record, ...]:
        if isinstance(index, slice):
            return tuple(self[place] for place in range(*index.indices(len(self))))
        source = self._sources[self._source_of[index]]
        return make_record(source.table, int(self._row_of[index]), source.store)
