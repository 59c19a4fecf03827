"""Files that are either whole or as they were before."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from training.errors import JobFailed, UsageError

FULL = {errno.ENOSPC, errno.EDQUOT}


@contextmanager
def written_aside(path: Path, *, aside: Path | None = None) -> Iterator[BinaryIO]:
    """Give a file to write, flush it to the disk, and put it in place of the old one.

    A process killed at any moment leaves the old file or the new one, and at worst the one aside.

    Args:
        aside: What the file is called until then; None is a `.tmp` of this process beside it.

    Raises:
        OSError: It cannot be written; what was there before is still there.
    """
    aside = aside or path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        with aside.open("wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        aside.replace(path)
    except BaseException:
        aside.unlink(missing_ok=True)
        raise
    sync_folder(path.parent)


def write_atomically(path: Path, data: bytes, *, aside: Path | None = None) -> None:
    """Write a file as `written_aside` does."""
    with written_aside(path, aside=aside) as file:
        file.write(data)


def write_named(path: Path, data: bytes) -> None:
    """Write a file that somebody may have named, as `written_aside` does.

    Where a link leads is written to, and what is no file (/dev/stdout, a pipe) is written into: a
    file in its place would take it away from all other programs.
    """
    if path.exists() and not path.is_file():
        path.write_bytes(data)
    else:
        write_atomically(path.resolve(), data)


def write_result(path: Path, data: bytes) -> None:
    """Write a file as `write_named` does.

    Raises:
        JobFailed: It cannot be written.
    """
    try:
        write_named(path, data)
    except OSError as error:
        raise JobFailed(f"{path}: cannot be written ({error.strerror})") from error


def check_writable(folder: Path, *, given: str) -> None:
    """Make a folder and write to it, which says more than permissions do: a file system may be
    read-only, or full.

    Args:
        given: What the user gave, for the message.

    Raises:
        UsageError: It cannot be made or written to.
        JobFailed: The disk is full, as it may also become later.
    """
    probe = folder / ".probe"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        write_atomically(probe, b"?")
        probe.unlink()
    except OSError as error:
        kind = JobFailed if error.errno in FULL else UsageError
        raise kind(f"{given}: cannot be written to ({error.strerror})") from error


def sync_folder(folder: Path) -> None:
    """Flush a folder's entries: until then a rename or removal may be lost with the power."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
