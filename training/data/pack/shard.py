"""Writing of one shard, whatever its format."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, Protocol

from training.data.pack.index import ShardFile
from training.data.pack.plan import Member
from training.data.pack.whole_file import whole_file
from training.errors import JobFailed

Place = tuple[int, int, int]
"""Image id, and offset and length of what stands for the picture."""


class ShardFormat(Protocol):
    """Turns pictures into bytes of a shard; the same picture always into the same."""

    def sample(self, member: Member) -> Sample:
        """Return what stands for a picture."""

    def end(self) -> bytes:
        """Return what ends a shard."""


@dataclass(frozen=True)
class Sample:
    """What stands for one picture in a shard."""

    content: bytes
    begin: int
    """Of what the index points to."""
    size: int


@dataclass(frozen=True)
class Written:
    """A whole shard, and what is where in it."""

    file: ShardFile
    places: tuple[Place, ...]

    def to_json(self) -> dict[str, Any]:
        return {**self.file.to_json(), "places": self.places}

    @staticmethod
    def from_json(value: dict[str, Any]) -> Written:
        """Raises KeyError, TypeError or ValueError where it is not of this form."""
        file = ShardFile(value["name"], value["size"], value["sha256"])
        return Written(file, tuple((i, o, s) for i, o, s in value["places"]))


def write_shard(path: Path, members: Sequence[Member], form: ShardFormat) -> Written:
    """Write a shard aside and give it its name.

    Raises:
        JobFailed: A picture changed since the plan was made.
        OSError: Something cannot be read or written.
    """
    digest = hashlib.sha256()
    places: list[Place] = []
    at = 0
    with whole_file(path) as file:
        for member in members:
            sample = form.sample(member)
            _put(file, digest, sample.content)
            places.append((member.image_id, at + sample.begin, sample.size))
            at += len(sample.content)
        end = form.end()
        _put(file, digest, end)
    return Written(ShardFile(path.name, at + len(end), digest.hexdigest()), tuple(places))


def _put(file: BinaryIO, digest: Any, content: bytes) -> None:
    file.write(content)
    digest.update(content)


def read_member(folder: Path, member: Member) -> bytes:
    """Return a picture's bytes, as they were when the plan was made.

    Raises:
        JobFailed: The file is another one by now.
        OSError: It cannot be read.
    """
    path = folder / member.name
    with path.open("rb") as file:
        content = file.read()
        about = os.fstat(file.fileno())
    if len(content) != member.size or about.st_mtime_ns != member.mtime_ns:
        raise JobFailed(
            f"{path}: changed while it was packed. Wait until nothing writes to the set, run again"
        )
    return content
