"""The index of a split's shards: where each picture lies, for random access.

A shard is a plain tar file in WebDataset's convention (https://github.com/webdataset/webdataset):
the members of a sample stand together and share the name before the first dot, `<id>.jpg` and
`<id>.json`. The index lies beside the shards: `index.json` names them with size and SHA-256,
`members.npy` has the place of each picture's bytes. It is written last, so that shards without it
are not whole.
"""

from __future__ import annotations

import json
import os
from collections import OrderedDict
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from training.data.pack.whole_file import whole_file
from training.errors import JobFailed
from training.layout import SHARD_INDEX

VERSION = 1
INDEX = SHARD_INDEX
MEMBERS = "members.npy"

MEMBER = np.dtype([("image_id", "<i8"), ("shard", "<i4"), ("offset", "<i8"), ("size", "<i8")])
"""A picture's place: its bytes are `size` from `offset` on of the shard; by rising image id."""

OPEN_FILES = 128
"""Of a process: it may have 1,024 in all."""


@dataclass(frozen=True)
class ShardFile:
    """A shard that is whole."""

    name: str
    size: int
    sha256: str

    def to_json(self) -> dict[str, Any]:
        return {"name": self.name, "size": self.size, "sha256": self.sha256}


def is_packed(folder: Path) -> bool:
    """Return whether a folder holds whole shards."""
    return (folder / INDEX).is_file()


class ShardIndex:
    """Whole shards, and where each picture is in them."""

    def __init__(
        self, folder: Path, shards: tuple[ShardFile, ...], members: NDArray[np.void], identity: str
    ) -> None:
        self.folder = folder
        self.shards = shards
        self.members = members
        self.identity = identity
        """Of the source and the options that the shards were made with."""
        # In a row, since a search would copy what is not.
        self.image_ids: NDArray[np.int64] = members["image_id"].copy()
        self._files: OrderedDict[int, int] = OrderedDict()

    @classmethod
    def open(cls, folder: Path) -> Self:
        """Open an index; pictures are not touched.

        Raises:
            JobFailed: It cannot be read, or is damaged.
        """
        try:
            about = json.loads((folder / INDEX).read_bytes())
            if about["version"] != VERSION:
                raise ValueError(f"version {about['version']}, not {VERSION}")
            shards = tuple(ShardFile(s["name"], s["size"], s["sha256"]) for s in about["shards"])
            members = np.load(folder / MEMBERS, mmap_mode="r", allow_pickle=False).view(np.ndarray)
            if members.dtype != MEMBER or len(members) != about["pictures"]:
                raise ValueError(f"{MEMBERS} does not belong to {INDEX}")
        except (OSError, EOFError, ValueError, KeyError, TypeError) as error:
            raise JobFailed(
                f"{folder / INDEX}: this index of shards cannot be read ({error}). Copy the folder "
                "again, or remove it and pack again: python -m training.data pack"
            ) from error
        return cls(folder, shards, members, about["identity"])

    def place(self, image_id: int) -> Path:
        """Return the shard with the picture below it, as a message names it."""
        shard = self.shards[int(self._row(image_id)["shard"])]
        return self.folder / shard.name / member_key(image_id)

    def read(self, image_id: int) -> bytes:
        """Return a picture's bytes.

        Raises:
            OSError: They cannot be read to their end.
        """
        row = self._row(image_id)
        size = int(row["size"])
        content = os.pread(self._file(int(row["shard"])), size, int(row["offset"]))
        if len(content) < size:
            raise OSError(f"{self.place(image_id)}: the shard ends before the picture does")
        return content

    def find(self, image_id: int) -> tuple[int, int, int] | None:
        """Return the number of the shard, offset and length; None where there is no such image."""
        try:
            row = self._row(image_id)
        except OSError:
            return None
        return int(row["shard"]), int(row["offset"]), int(row["size"])

    def missing_shards(self, folder: Path | None = None) -> list[Path]:
        """Return shards that are not there, or of another size than the index says.

        Args:
            folder: Of the shards, where it is not that of the index.
        """
        folder = folder or self.folder
        try:
            with os.scandir(folder) as entries:
                there = {entry.name: entry for entry in entries}
        except FileNotFoundError:
            there = {}
        return [
            folder / shard.name
            for shard in self.shards
            if shard.name not in there or there[shard.name].stat().st_size != shard.size
        ]

    def shards_of(self, image_ids: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the number of the shard of each picture: (N,)."""
        rows = np.searchsorted(self.image_ids, image_ids)
        return self.members["shard"][rows].astype(np.int64)

    def _row(self, image_id: int) -> Any:
        place = int(np.searchsorted(self.image_ids, image_id))
        if place == len(self.members) or self.image_ids[place] != image_id:
            raise OSError(f"{self.folder}: no shard has image {image_id}")
        return self.members[place]

    def _file(self, number: int) -> int:
        """Return the open shard; `pread` does not mind that forked workers share it."""
        if number in self._files:
            self._files.move_to_end(number)
            return self._files[number]
        if len(self._files) >= OPEN_FILES:
            os.close(self._files.popitem(last=False)[1])
        path = self.folder / self.shards[number].name
        self._files[number] = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
        return self._files[number]

    def close(self) -> None:
        while self._files:
            os.close(self._files.popitem()[1])

    def __getstate__(self) -> dict[str, Any]:
        """Leave open files to their process."""
        return {**self.__dict__, "_files": OrderedDict()}


def member_key(image_id: int) -> str:
    """Return the name that a sample's members share, twelve digits as COCO's own files have."""
    return f"{image_id:012d}"


def write_index(
    folder: Path, shards: list[ShardFile], members: NDArray[np.void], about: dict[str, Any]
) -> None:
    """Write the index: from then on the shards are whole.

    Args:
        folder: Of the shards.
        shards: In order.
        members: (N,) of MEMBER.
        about: What else is told of them; `identity` and `split` among it.

    Raises:
        OSError: It cannot be written.
    """
    by_id = np.sort(members, order="image_id")
    with whole_file(folder / MEMBERS) as file:
        np.save(file, by_id, allow_pickle=False)
    document = {
        "version": VERSION,
        **about,
        "pictures": len(by_id),
        "shards": [shard.to_json() for shard in shards],
    }
    with whole_file(folder / INDEX) as file:
        file.write(json.dumps(document, indent=1).encode() + b"\n")
