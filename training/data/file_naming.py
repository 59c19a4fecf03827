"""Files of a folder: what they are listed as, how they get their names, what can go wrong."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from training.data.side import FileState
from training.errors import JobFailed, UsageError

_REFUSED = frozenset({errno.EACCES, errno.EPERM, errno.EROFS, errno.ENOTDIR, errno.EISDIR})
"""What the user can put right, where others mean that the disk fails."""


def state_of(about: os.stat_result) -> FileState:
    """Return what a file is listed as."""
    return FileState(about.st_size, f"{about.st_ino}-{about.st_mtime_ns}")


def name_file(file: str | Path, place: str | Path) -> None:
    """Give a whole file its name, in place of what was there.

    Raises:
        UsageError: That is a folder, or on another file system.
        OSError: It cannot be done.
    """
    try:
        os.replace(file, place)  # noqa: PTH105
    except IsADirectoryError:
        raise UsageError(f"{place}: a folder is where a file must be. Move it away") from None
    except OSError as error:
        if error.errno != errno.EXDEV:
            raise
        raise UsageError(
            f"{place}: is on another file system than the folder that is copied to. Copy to "
            "each on its own"
        ) from None


@contextmanager
def file_errors(place: str | Path) -> Iterator[None]:
    """Turn what the operating system says into one message with the place.

    Raises:
        UsageError: It is what the user can put right.
        JobFailed: The disk is full, or fails.
    """
    try:
        yield
    except OSError as error:
        where = error.filename or place
        if error.errno in {errno.ENOSPC, errno.EDQUOT}:
            raise JobFailed(f"{where}: no space is left. Free some and run again") from error
        refused = error.errno in _REFUSED
        kind = UsageError if refused else JobFailed
        raise kind(f"{where}: {error.strerror or error}") from error
