"""Writes, reads and deletes a file: `python3 write_test.py FOLDER`; prints the seconds it took.

A program of its own, so that a file system that hangs takes nobody with it.
"""

from __future__ import annotations

import os
import sys
import tempfile
import time
from pathlib import Path

SIZE = 1 << 20


def write_read_delete(folder: str) -> float:
    """Return the seconds that 1 MiB takes to the server and back.

    Raises:
        OSError: The folder cannot be written to, or gives back something else.
    """
    data = os.urandom(SIZE)
    begin = time.monotonic()
    file, path = tempfile.mkstemp(prefix=".health-", dir=folder)
    try:
        with os.fdopen(file, "r+b") as opened:
            opened.write(data)
            opened.flush()
            os.fsync(opened.fileno())
            # Else it would be read from this machine's memory.
            os.posix_fadvise(opened.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
            opened.seek(0)
            if opened.read() != data:
                raise OSError(0, "what was read is not what was written")
    finally:
        Path(path).unlink()
    return time.monotonic() - begin


if __name__ == "__main__":
    try:
        sys.stdout.write(f"{write_read_delete(sys.argv[1]):.3f}\n")
    except OSError as error:
        sys.exit(error.strerror)
