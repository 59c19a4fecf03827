"""Whether there is room for a download, before it begins."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from training.data.progress import format_bytes
from training.errors import PreflightError

BLOCK_BYTES = 4096
"""A file takes up whole blocks: about half of one more than its bytes."""


@dataclass(frozen=True)
class Room:
    """What one item will take up.

    Attributes:
        archive_bytes: Of the file as it is downloaded, that are not on disk yet.
        unpacked_bytes: Of what is unpacked from it and stays, that are not on disk yet.
        unpacked_files: How many of them.
        archive_stays: Whether the file itself is what is kept.
    """

    archive_bytes: int
    unpacked_bytes: int = 0
    unpacked_files: int = 0
    archive_stays: bool = False

    @property
    def kept_bytes(self) -> int:
        stays = self.archive_bytes if self.archive_stays else 0
        return stays + self.unpacked_bytes + self.unpacked_files * BLOCK_BYTES // 2

    @property
    def peak_bytes(self) -> int:
        """While it is unpacked, the file is there too."""
        return self.kept_bytes + (0 if self.archive_stays else self.archive_bytes)


def needed_bytes(rooms: Sequence[Room]) -> int:
    """Return the most that a download takes up at any moment; its items come one by one."""
    kept = most = 0
    for room in rooms:
        most = max(most, kept + room.peak_bytes)
        kept += room.kept_bytes
    return most


@dataclass(frozen=True)
class Free:
    """What a file system has left for this user; None for files where it sets no limit."""

    bytes: int
    files: int | None


def free_at(path: Path) -> Free:
    """Return what is free where a path lies, or will lie once it is made."""
    while not path.exists() and path != path.parent:
        path = path.parent
    about = os.statvfs(path)
    return Free(about.f_bavail * about.f_frsize, about.f_favail if about.f_files else None)


def require_space(root: Path, rooms: Sequence[Room], free: Free) -> None:
    """Refuse a download that would fill the disk.

    Raises:
        PreflightError: There is too little space, or too few files can be made.
    """
    need = needed_bytes(rooms)
    if need > free.bytes:
        raise PreflightError(
            f"{root}: {format_bytes(need)} are needed, the downloaded files and what is unpacked "
            f"from them counted, and {format_bytes(free.bytes)} are free. Make room, take another "
            "folder, or fetch less with --what; nothing was downloaded"
        )
    files = sum(room.unpacked_files for room in rooms)
    if free.files is not None and files > free.files:
        raise PreflightError(
            f"{root}: {files:,} files are to be made, and the file system has inodes for "
            f"{free.files:,} more. Take another folder; nothing was downloaded"
        )
