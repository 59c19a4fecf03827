"""Waits until what was written to a file system is on its disks."""

from __future__ import annotations

import ctypes
import os
from pathlib import Path

_libc = ctypes.CDLL(None, use_errno=True)


def sync_file_system(folder: Path) -> None:
    """Wait until all that was written to the file system of a folder is on its disks.

    One call for thousands of files, since a wait for each of 118,287 would take minutes; where
    the system has none for one file system, all are waited for.

    Raises:
        OSError: Something cannot be written.
    """
    file = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        # Not in the os module; os.sync would also wait for every other disk and network mount.
        if _libc.syncfs(file) != 0:
            raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()), str(folder))
    except AttributeError:
        os.sync()
    finally:
        os.close(file)
