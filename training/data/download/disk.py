"""What a download does on disk besides its own bytes: one at a time, whole files, clear errors."""

from __future__ import annotations

import errno
import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from training.data.lock import LOCK, Hold
from training.data.side import PARTIAL
from training.errors import JobFailed, UsageError

DOWNLOADS = "download"
"""The folder below `PARTIAL` that holds what is not finished, a folder for each item."""


@contextmanager
def disk_errors(place: Path) -> Iterator[None]:
    """Turn what the operating system says into one message with the place.

    Raises:
        UsageError: The user may not write there, or it is no folder.
        JobFailed: The disk is full or broken.
    """
    try:
        yield
    except OSError as error:
        where = error.filename or place
        if error.errno in {errno.ENOSPC, errno.EDQUOT}:
            raise JobFailed(
                f"{where}: no space is left. What was downloaded is kept: free some space and run "
                "again"
            ) from error
        if error.errno == errno.EFBIG:
            raise JobFailed(
                f"{where}: a file may not be so large here (ulimit -f, or the file system)"
            ) from error
        refused = error.errno in {
            errno.EACCES,
            errno.EPERM,
            errno.EROFS,
            errno.ENOTDIR,
            errno.EEXIST,
            errno.EISDIR,
        }
        kind = UsageError if refused else JobFailed
        raise kind(f"{where}: {error.strerror or error}") from error


@contextmanager
def exclusive(root: Path) -> Iterator[Hold]:
    """Keep other downloads, and copies by `stage`, out of a folder.

    Raises:
        UsageError: Another one is running.
    """
    folder = root / PARTIAL
    with disk_errors(root):
        file = _lock(folder, root)
    try:
        yield Hold(file)
    finally:
        _remove_if_empty(folder)
        os.close(file)


def _lock(folder: Path, root: Path) -> int:
    """Return the locked file: the one that a copy into the folder locks (`training.data.lock`)."""
    while True:
        folder.mkdir(parents=True, exist_ok=True)
        try:
            file = os.open(folder / LOCK, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o644)
        except FileNotFoundError:
            continue  # It was removed in between.
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(file)
            raise UsageError(
                f"{root}: another download or copy into this folder is running; wait for it"
            ) from None
        except OSError as error:
            # Lustre that is mounted without `flock` has no locks.
            if error.errno not in {errno.ENOSYS, errno.EOPNOTSUPP, errno.ENOLCK}:
                raise
        if _is_at(file, folder / LOCK):
            return file
        os.close(file)


def _is_at(file: int, path: Path) -> bool:
    """Return whether a file that was locked is still the one: its holder removes it at its end."""
    try:
        return os.path.samestat(os.fstat(file), path.stat())
    except FileNotFoundError:
        return False


def _remove_if_empty(folder: Path) -> None:
    """Leave nothing behind where nothing is to be gone on with."""
    downloads = folder / DOWNLOADS
    if downloads.is_dir() and not any(downloads.iterdir()):
        downloads.rmdir()
    if {path.name for path in folder.iterdir()} == {LOCK}:
        (folder / LOCK).unlink()
        folder.rmdir()


def write_aside(path: Path, data: bytes, aside: Path) -> None:
    """Write a small file so that at any moment the old or the new one is there, whole."""
    with aside.open("wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
    aside.replace(path)
