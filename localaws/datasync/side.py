"""The two sides of a transfer: a prefix of a bucket, or a folder of a file system."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from moto.s3.models import FakeKey

from localaws import file_systems
from localaws.fsx.repository import backend as s3


class Side(Protocol):
    """Where files are read from, and written to."""

    def files(self) -> Iterator[str]:
        """Yield the paths of all files, below the location."""

    def read(self, path: str) -> bytes:
        """Return a file's content."""

    def write(self, path: str, content: bytes) -> None:
        """Write a file."""


@dataclass(frozen=True)
class BucketSide:
    """A prefix of a bucket; it ends with a slash, or is empty."""

    bucket: str
    prefix: str

    def files(self) -> Iterator[str]:
        keys = s3().get_bucket(self.bucket).keys
        for key in sorted(keys.keys()):
            is_file = key.startswith(self.prefix) and not key.endswith("/")
            # What was deleted has a mark in its place.
            if is_file and isinstance(keys.get(key), FakeKey):
                yield key.removeprefix(self.prefix)

    def read(self, path: str) -> bytes:
        return bytes(s3().get_object(self.bucket, self.prefix + path).value)

    def write(self, path: str, content: bytes) -> None:
        s3().put_object(self.bucket, self.prefix + path, content)


@dataclass(frozen=True)
class FolderSide:
    """A folder of a file system."""

    file_system_id: str
    path: str

    @property
    def folder(self) -> Path:
        return file_systems.folder(self.file_system_id) / self.path.strip("/")

    def files(self) -> Iterator[str]:
        for folder, _, names in os.walk(self.folder):
            for name in sorted(names):
                file = Path(folder, name)
                if file.is_file() and not file.is_symlink():
                    yield file.relative_to(self.folder).as_posix()

    def read(self, path: str) -> bytes:
        return (self.folder / path).read_bytes()

    def write(self, path: str, content: bytes) -> None:
        target = self.folder / path
        if ".." in Path(path).parts:
            raise ValueError(f"{path}: leads out of the location")
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content)
