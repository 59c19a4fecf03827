"""The link between a folder and a prefix of a bucket, and the files that go over it.

FSx imports names first and content when a file is read; here a file is whole at once, which a
reader cannot tell apart.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any
from urllib.parse import urlsplit
from uuid import uuid4

from moto.s3.models import FakeKey, s3_backends

from localaws import file_systems
from localaws.environment import ACCOUNT_ID


def backend() -> Any:
    """Return S3's state: reading it spares one request an object."""
    return s3_backends[ACCOUNT_ID]["aws"]


@dataclass(frozen=True)
class Repository:
    """A folder of a file system that mirrors a prefix of a bucket."""

    file_system_id: str
    path: str
    """Absolute in the file system, such as `/data`."""
    bucket: str
    prefix: str
    """Empty, or with a slash at its end."""

    @classmethod
    def parse(cls, file_system_id: str, path: str, s3_path: str) -> Repository:
        """Read a path such as `s3://bucket/prefix`.

        Raises:
            ValueError: It is not of that form.
        """
        parts = urlsplit(s3_path)
        if parts.scheme != "s3" or not parts.netloc:
            raise ValueError(f"{s3_path} is not of the form s3://bucket/prefix")
        prefix = parts.path.strip("/")
        return cls(file_system_id, path, parts.netloc, f"{prefix}/" if prefix else "")

    @property
    def folder(self) -> Path:
        return file_systems.folder(self.file_system_id) / self.path.strip("/")

    def overlaps(self, other: Repository) -> bool:
        """Return whether one of the folders lies in the other."""
        mine, theirs = PurePosixPath("/" + self.path), PurePosixPath("/" + other.path)
        return mine.is_relative_to(theirs) or theirs.is_relative_to(mine)

    def shares_objects_with(self, other: Repository) -> bool:
        """Return whether an object can be below both prefixes."""
        nested = self.prefix.startswith(other.prefix) or other.prefix.startswith(self.prefix)
        return self.bucket == other.bucket and nested

    def mirrors(self, bucket: str, key: str) -> bool:
        return bucket == self.bucket and key.startswith(self.prefix)

    def objects(self) -> Iterator[tuple[str, FakeKey]]:
        """Yield key and object of everything below the prefix that is not deleted."""
        keys = backend().get_bucket(self.bucket).keys
        for key in list(keys.keys()):
            value = keys.get(key)
            if key.startswith(self.prefix) and isinstance(value, FakeKey):
                yield key, value

    def import_object(self, key: str, value: FakeKey) -> None:
        """Write an object's content to its file.

        Raises:
            ValueError: The key names nothing below the folder.
            OSError: The file cannot be written, for instance where a folder has its name.
        """
        target = self._file(key)
        if key.endswith("/"):
            target.mkdir(parents=True, exist_ok=True)
            return
        content = value.value
        if target.is_file() and target.read_bytes() == content:
            return
        target.parent.mkdir(parents=True, exist_ok=True)
        # A reader sees the old file or the new one, never a part.
        aside = target.with_name(f".{uuid4().hex}.part")
        try:
            aside.write_bytes(content)
            modified = value.last_modified.timestamp()
            os.utime(aside, (modified, modified))
            aside.replace(target)
        finally:
            aside.unlink(missing_ok=True)

    def forget_object(self, key: str) -> None:
        """Delete the file of a deleted object."""
        target = self._file(key)
        if target.is_file():
            target.unlink()

    def _file(self, key: str) -> Path:
        """Return the file of a key, which lies below the folder whatever the key says."""
        relative = key.removeprefix(self.prefix)
        parts = relative.removesuffix("/").split("/")
        if "\0" in relative or any(part in ("", ".", "..") for part in parts):
            raise ValueError(f"key {key!r} is no path of a file")
        self.folder.mkdir(parents=True, exist_ok=True)
        target = self.folder.joinpath(*parts)
        # A job may have left a symbolic link that leads out of the file system.
        if not target.parent.resolve().is_relative_to(self.folder.resolve()):
            raise ValueError(f"key {key!r} leads out of the file system through a link")
        return target

    def files(self) -> Iterator[tuple[str, Path]]:
        """Yield key and path of every regular file below the folder; links are left alone."""
        for root, folders, names in os.walk(self.folder):
            folders.sort()
            for name in sorted(names):
                path = Path(root, name)
                if path.is_file() and not path.is_symlink():
                    yield self.prefix + path.relative_to(self.folder).as_posix(), path

    def has_exported(self, key: str, path: Path) -> bool:
        """Return whether the bucket has the content of a file."""
        known = backend().get_bucket(self.bucket).keys.get(key)
        return isinstance(known, FakeKey) and bool(known.value == path.read_bytes())

    def export_file(self, key: str, path: Path) -> None:
        """Write a file to the bucket, unless the bucket has the same already."""
        if not self.has_exported(key, path):
            backend().put_object(self.bucket, key, path.read_bytes())
