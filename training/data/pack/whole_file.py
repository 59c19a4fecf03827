"""A file that has its name only when it is whole and on the disk."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from training.maskrcnn.files import sync_folder


def aside_of(path: Path) -> Path:
    """Return where a file grows before it has its name."""
    return path.with_name(f".{path.name}.partial")


@contextmanager
def whole_file(path: Path) -> Iterator[BinaryIO]:
    """Give a file to write to, and name it at the end of the block.

    What a killed run left beside it is overwritten.

    Raises:
        OSError: It cannot be written; nothing is left of it then.
    """
    aside = aside_of(path)
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
