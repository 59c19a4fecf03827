"""JSON files that others read while they are written."""

from __future__ import annotations

import contextlib
import json
import os
import tempfile
from pathlib import Path
from typing import Any


def write(path: Path, value: Any, *, mode: int = 0o644) -> None:
    """Write a file so that a reader sees the old content or the new one, never a part.

    Raises:
        OSError: It cannot be written.
    """
    write_text(path, json.dumps(value, sort_keys=True) + "\n", mode=mode)


def write_text(path: Path, text: str, *, mode: int = 0o644) -> None:
    """Write a text file in the same way; it never has a wider mode than the one asked for."""
    descriptor, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fchmod(file.fileno(), mode)
            os.fsync(file.fileno())
        Path(name).replace(path)
    except BaseException:
        with contextlib.suppress(OSError):
            Path(name).unlink()
        raise
