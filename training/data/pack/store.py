"""The pictures of a split in its shards, by their file_name."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from pathlib import Path

from training.data.pack.index import ShardIndex


class ShardStore:
    """A `PictureStore` of shards; names come in the order in which they lie there."""

    is_loose = False

    def __init__(self, folder: Path, names: Mapping[int, str]) -> None:
        """Open the index.

        Args:
            folder: Of the shards.
            names: Image id to file_name, as the annotations have them.

        Raises:
            JobFailed: The index cannot be read.
        """
        self._index = ShardIndex.open(folder)
        places = {name: self._index.find(image_id) for image_id, name in names.items()}
        found = {name: place for name, place in places.items() if place}
        self._sizes = {name: found[name][2] for name in sorted(found, key=found.__getitem__)}
        self._ids = {name: image_id for image_id, name in names.items()}
        # The index keeps shards open, and closes one to open another.
        self._reading = threading.Lock()

    def names(self) -> frozenset[str]:
        return frozenset(self._sizes)

    def in_order(self) -> list[str]:
        """Return the names in the order in which the pictures lie in the shards."""
        return list(self._sizes)

    def file(self, name: str) -> bytes:
        with self._reading:
            return self._index.read(self._ids[name])

    def size(self, name: str) -> int:
        return self._sizes[name]
