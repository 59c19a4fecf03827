"""Where the pictures of a split are read from: files of their own, or shards."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from training.data.pack.index import ShardIndex


class PictureStore(Protocol):
    """Reads pictures; many processes may use the same one after a fork."""

    def place(self, image_id: int, name: str) -> Path:
        """Return what a message calls the picture's file."""

    def read(self, image_id: int, name: str) -> bytes:
        """Return the picture's file; raises OSError."""

    def missing(self, image_ids: NDArray[np.int64], names: Sequence[str]) -> list[Path]:
        """Return which pictures are not there, by one listing rather than a call a file."""

    def groups(self, image_ids: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return pictures that lie together as the same number: (N,)."""


LOOSE_GROUP = 1000
"""Loose files lie nowhere together: so many by rising id are taken for a shard."""


class LooseFiles:
    """A folder with a file for each picture."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def place(self, image_id: int, name: str) -> Path:  # noqa: ARG002
        return self._folder / name

    def read(self, image_id: int, name: str) -> bytes:  # noqa: ARG002
        return (self._folder / name).read_bytes()

    def missing(self, image_ids: NDArray[np.int64], names: Sequence[str]) -> list[Path]:  # noqa: ARG002
        there = set(_walk(self._folder, ""))
        # A name such as a//b.jpg is one of the same file.
        return [
            self._folder / name
            for name in names
            if name not in there and os.path.normpath(name) not in there
        ]

    def groups(self, image_ids: NDArray[np.int64]) -> NDArray[np.int64]:
        return np.arange(len(image_ids)) // LOOSE_GROUP


class Shards:
    """Pictures inside tar files, each read by its place."""

    def __init__(self, index: ShardIndex) -> None:
        self._index = index

    def place(self, image_id: int, name: str) -> Path:  # noqa: ARG002
        return self._index.place(image_id)

    def read(self, image_id: int, name: str) -> bytes:  # noqa: ARG002
        return self._index.read(image_id)

    def missing(self, image_ids: NDArray[np.int64], names: Sequence[str]) -> list[Path]:
        there = np.isin(image_ids, self._index.image_ids)
        lost = [self._index.folder / names[at] for at in np.flatnonzero(~there).tolist()]
        return [*self._index.missing_shards(), *lost]

    def groups(self, image_ids: NDArray[np.int64]) -> NDArray[np.int64]:
        return self._index.shards_of(image_ids)


def _walk(folder: Path, below: str) -> Iterator[str]:
    with os.scandir(folder / below) as entries:
        for entry in entries:
            name = below + entry.name
            if entry.is_dir():
                yield from _walk(folder, f"{name}/")
            else:
                yield name
