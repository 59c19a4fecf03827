"""File systems as folders: each EFS and FSx file system is a folder named by its id."""

from __future__ import annotations

import shutil
from pathlib import Path

_root: Path | None = None


def use(root: Path) -> None:
    """Set where the folders lie. moto's backends are made by moto, so nothing can be passed in."""
    global _root  # noqa: PLW0603
    _root = root


def root() -> Path:
    """Return where the folders lie."""
    assert _root is not None, "localaws.extensions.install sets it"
    return _root


def folder(file_system_id: str) -> Path:
    """Return the folder whose content is the file system's root."""
    return root() / file_system_id


def make(file_system_id: str) -> None:
    """Make the folder of a new file system."""
    folder(file_system_id).mkdir(parents=True, exist_ok=True)


def remove(file_system_id: str) -> None:
    """Delete a file system's content with it."""
    path = folder(file_system_id)
    if path.exists():
        shutil.rmtree(path)
