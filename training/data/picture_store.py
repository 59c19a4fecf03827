"""Where the pictures of a split are read from: a folder of files, or shards."""

from __future__ import annotations

from pathlib import Path
from typing import Protocol

from training.data.files_below import files_below


class PictureStore(Protocol):
    """Pictures by their file_name. Methods may be called from several threads at once."""

    is_loose: bool
    """Each picture is a file of its own."""

    def names(self) -> frozenset[str]:
        """Return what is there.

        Raises:
            OSError: That cannot be told.
        """

    def file(self, name: str) -> Path | bytes:
        """Return a picture's file, or its content.

        Raises:
            OSError: It cannot be read.
        """

    def size(self, name: str) -> int:
        """Return a picture's bytes.

        Raises:
            OSError: That cannot be told.
        """


class LooseStore:
    """A folder."""

    is_loose = True

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def names(self) -> frozenset[str]:
        return files_below(self._folder)

    def file(self, name: str) -> Path | bytes:
        return self._folder / name

    def size(self, name: str) -> int:
        return (self._folder / name).stat().st_size
