"""A file that has its name only when it is whole and on the disk."""

from __future__ import annotations

from contextlib import AbstractContextManager
from pathlib import Path
from typing import BinaryIO

from training.maskrcnn.files import written_aside


def aside_of(path: Path) -> Path:
    """Return where a file grows before it has its name."""
    return path.with_name(f".{path.name}.partial")


def whole_file(path: Path) -> AbstractContextManager[BinaryIO]:
    """Give a file to write to, and name it at the end of the block.

    What a killed run left beside it is overwritten.

    Raises:
        OSError: It cannot be written; nothing is left of it then.
    """
    return written_aside(path, aside=aside_of(path))
