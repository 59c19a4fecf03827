"""What lies below a folder, however it is linked together."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from pathlib import Path


def files_below(folder: Path) -> frozenset[str]:
    """Return the paths of all files below a folder: one listing, rather than a call a file.

    Raises:
        OSError: There is no such folder, or it cannot be read.
    """
    return frozenset(_walk(folder, "", frozenset()))


def _walk(folder: Path, prefix: str, parents: frozenset[tuple[int, int]]) -> Iterator[str]:
    status = folder.stat()
    here = (status.st_dev, status.st_ino)
    if here in parents:
        # A link to a folder above it.
        return
    with os.scandir(folder) as entries:
        for entry in entries:
            if _leads_nowhere(entry):
                continue
            if entry.is_dir():
                yield from _walk(Path(entry.path), f"{prefix}{entry.name}/", parents | {here})
            elif entry.is_file():
                yield prefix + entry.name


def _leads_nowhere(entry: os.DirEntry[str]) -> bool:
    """Return whether an entry is a link to nothing, or one that leads to itself."""
    if not entry.is_symlink():
        return False
    try:
        entry.stat()
    except OSError as error:
        return error.errno in {errno.ENOENT, errno.ENOTDIR, errno.ELOOP}
    return False
