"""A partial file as something that can be read and sought in: reading waits for the bytes."""

from __future__ import annotations

import io
import os

from training.data.download.partial import Partial


class PartialReader(io.RawIOBase):
    """What zipfile reads from."""

    def __init__(self, partial: Partial) -> None:
        self._partial = partial
        self._at = 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._at

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        base = {os.SEEK_SET: 0, os.SEEK_CUR: self._at, os.SEEK_END: self._partial.size}[whence]
        self._at = max(0, base + offset)
        return self._at

    def read(self, size: int | None = -1, /) -> bytes:
        """Return all the bytes that were asked for, unlike most raw files: zipfile relies on it."""
        end = self._partial.size
        if size is not None and size >= 0:
            end = min(end, self._at + size)
        data = self._partial.read(self._at, end) if end > self._at else b""
        self._at += len(data)
        return data
