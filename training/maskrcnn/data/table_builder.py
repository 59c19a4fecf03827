"""Sound annotations to the arrays of a table."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from training.data.annotation import Frame
from training.maskrcnn.data.table import COMPRESSED, FLOATS, HUNDREDTHS, RUNS, Table

CHUNK = 20_000
"""Outlines that are turned into arrays together: alone each would cost more than its numbers."""
LARGEST_HUNDREDTHS = 2**16 - 1


class TableBuilder:
    """Takes pictures by rising id, each with its annotations."""

    def __init__(self) -> None:
        self._image_ids: list[int] = []
        self._frames: list[Frame] = []
        self._names: list[bytes] = []
        self._counts: list[int] = []
        self._boxes: list[Sequence[float]] = []
        self._labels: list[int] = []
        self._crowds: list[bool] = []
        self._areas: list[float] = []
        self._outlines = _Outlines()

    def add_picture(self, image_id: int, name: str, frame: Frame) -> None:
        self._image_ids.append(image_id)
        self._names.append(name.encode("utf-8", "surrogatepass"))
        self._frames.append(frame)
        self._counts.append(0)

    def add_annotation(
        self, box: Sequence[float], label: int, is_crowd: bool, area: float, outline: Any
    ) -> None:
        """Add an annotation of the last picture; its outline has no fault."""
        self._counts[-1] += 1
        self._boxes.append(box)
        self._labels.append(label)
        self._crowds.append(is_crowd)
        self._areas.append(area)
        self._outlines.add(outline)

    def build(self, categories: Mapping[int, str], skipped: Iterable[str]) -> Table:
        frames = np.array(self._frames, np.int32).reshape(-1, 2)
        arrays: dict[str, NDArray[Any]] = {
            "image_ids": np.array(self._image_ids, np.int64),
            "widths": np.ascontiguousarray(frames[:, 0]),
            "heights": np.ascontiguousarray(frames[:, 1]),
            "names": np.frombuffer(b"".join(self._names), np.uint8),
            "name_starts": _starts([len(name) for name in self._names]),
            "starts": _starts(self._counts),
            "boxes": np.array(self._boxes, np.float32).reshape(-1, 4),
            "labels": np.array(self._labels, np.int64),
            "is_crowd": np.array(self._crowds, np.bool_),
            "areas": np.array(self._areas, np.float64),
            **self._outlines.build(),
        }
        return Table(arrays, categories, tuple(skipped))


class _Outlines:
    """Takes outlines one by one and turns them into arrays many at a time."""

    def __init__(self) -> None:
        self._parts: dict[str, list[NDArray[Any]]] = {
            "outline_kinds": [np.empty(0, np.uint8)],
            "outline_starts": [np.empty(0, np.int64)],
            **{_NAMES[kind]: [np.empty(0, dtype)] for kind, dtype in _DTYPES.items()},
        }
        self._ends = dict.fromkeys(_NAMES, 0)
        self._polygons: list[int] = []
        self._lengths: list[int] = []
        self._begin_chunk()

    def _begin_chunk(self) -> None:
        self._kinds: list[int] = []
        self._sizes: list[int] = []
        self._coordinates = array("d")
        self._runs: list[int] = []
        self._texts: list[str] = []

    def add(self, outline: Any) -> None:
        if isinstance(outline, list):
            # As floats, until the whole chunk is looked at.
            self._note(FLOATS, [len(polygon) for polygon in outline])
            for polygon in outline:
                self._coordinates.extend(polygon)
        elif isinstance(outline["counts"], str):
            self._note(COMPRESSED, [len(outline["counts"])])
            self._texts.append(outline["counts"])
        else:
            self._note(RUNS, [len(outline["counts"])])
            self._runs += outline["counts"]
        if len(self._kinds) == CHUNK:
            self._end_chunk()

    def _note(self, kind: int, lengths: list[int]) -> None:
        self._kinds.append(kind)
        self._sizes.append(sum(lengths))
        self._polygons.append(len(lengths))
        self._lengths += lengths

    def build(self) -> dict[str, NDArray[Any]]:
        self._end_chunk()
        return {
            "polygon_starts": _starts(self._polygons),
            "polygon_lengths": np.array(self._lengths, np.int32),
            **{name: np.concatenate(parts) for name, parts in self._parts.items()},
        }

    def _end_chunk(self) -> None:
        kinds, sizes = np.array(self._kinds, np.uint8), np.array(self._sizes, np.int64)
        coordinates = np.frombuffer(self._coordinates, np.float64)
        fits = _fit_hundredths(coordinates, sizes[kinds == FLOATS])
        is_fit = np.repeat(fits, sizes[kinds == FLOATS])
        kinds[kinds == FLOATS] = np.where(fits, HUNDREDTHS, FLOATS)
        self._append(HUNDREDTHS, np.rint(coordinates[is_fit] * 100))
        self._append(FLOATS, coordinates[~is_fit])
        self._append(RUNS, self._runs)
        self._append(COMPRESSED, np.frombuffer("".join(self._texts).encode("ascii"), np.uint8))
        self._parts["outline_kinds"].append(kinds)
        self._parts["outline_starts"].append(self._place(kinds, sizes))
        self._begin_chunk()

    def _append(self, kind: int, values: Any) -> None:
        self._parts[_NAMES[kind]].append(np.array(values).astype(_DTYPES[kind]))

    def _place(self, kinds: NDArray[np.uint8], sizes: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return where each outline of the chunk begins in the array of its kind."""
        begins = np.zeros(len(kinds), np.int64)
        for kind in _NAMES:
            of_kind = kinds == kind
            places = self._ends[kind] + _starts(sizes[of_kind])
            begins[of_kind] = places[:-1]
            self._ends[kind] = int(places[-1])
        return begins


def _fit_hundredths(
    coordinates: NDArray[np.float64], sizes: NDArray[np.int64]
) -> NDArray[np.bool_]:
    """Tell of each outline whether hundredths in 16 bits give back the very same numbers."""
    if not len(sizes):
        return np.zeros(0, np.bool_)
    scaled = np.rint(coordinates * 100)
    is_exact = (scaled >= 0) & (scaled <= LARGEST_HUNDREDTHS) & (scaled / 100 == coordinates)
    fits: NDArray[np.bool_] = np.logical_and.reduceat(is_exact, _starts(sizes)[:-1])
    return fits


_NAMES = {HUNDREDTHS: "hundredths", FLOATS: "floats", COMPRESSED: "compressed", RUNS: "runs"}
_DTYPES = {HUNDREDTHS: np.uint16, FLOATS: np.float64, COMPRESSED: np.uint8, RUNS: np.int64}


def _starts(lengths: Sequence[int] | NDArray[np.int64]) -> NDArray[np.int64]:
    return np.concatenate([[0], np.cumsum(np.array(lengths, np.int64))]).astype(np.int64)
