"""A file on its way into a folder."""

from __future__ import annotations

import os
from pathlib import Path

from training.data.digest import CHUNK_BYTES, Digester
from training.data.file_naming import file_errors, name_file, state_of
from training.data.side import FileState


class FolderWriter:
    """A file that grows aside, in the same file system, and is renamed when it is whole."""

    def __init__(self, place: Path, partial: Path, size: int) -> None:
        self._place = place
        self._partial = partial
        self._size = size
        with file_errors(place):
            self._file = partial.open("a+b")

    def begin(self, digester: Digester, *, resume: bool) -> int:
        with file_errors(self._place):
            if not resume or self._file.seek(0, os.SEEK_END) > self._size:
                self._file.truncate(0)
            self._file.seek(0)
            while chunk := self._file.read(CHUNK_BYTES):
                digester.update(chunk)
            return self._file.tell()

    def write(self, chunk: bytes) -> None:
        with file_errors(self._place):
            self._file.write(chunk)

    def commit(self) -> FileState:
        with file_errors(self._place):
            self._file.flush()
            # Before the rename: else a crash of the host can leave an empty file under the name.
            os.fsync(self._file.fileno())
            self._file.close()
            name_file(self._partial, self._place)
            return state_of(self._place.stat())

    def discard(self) -> None:
        self.close()
        self._partial.unlink(missing_ok=True)

    def close(self) -> None:
        with file_errors(self._place):
            self._file.close()
