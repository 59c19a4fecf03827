"""What a download does on disk besides its own bytes: one at a time, clear errors."""

from __future__ import annotations

import errno
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from training.data.lock import Held, Hold, hold_at_once, remove_lock_alone
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
    with ExitStack() as stack:
        with disk_errors(root):
            try:
                held = stack.enter_context(hold_at_once(folder))
            except Held:
                raise UsageError(
                    f"{root}: another download or copy into this folder is running; wait for it"
                ) from None
        try:
            yield held
        finally:
            _remove_if_empty(folder)


def _remove_if_empty(folder: Path) -> None:
    """Leave nothing behind where nothing is to be gone on with."""
    downloads = folder / DOWNLOADS
    if downloads.is_dir() and not any(downloads.iterdir()):
        downloads.rmdir()
    remove_lock_alone(folder)
