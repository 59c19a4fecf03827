"""The checksum of a whole file, computed while it arrives."""

from __future__ import annotations

import hashlib
import threading

from training.data.digest import CHUNK_BYTES
from training.data.download.partial import Partial


class RunningHash:
    """The SHA-256 of a partial file; its thread follows the bytes."""

    def __init__(self, partial: Partial) -> None:
        self._partial = partial
        self._digest: str | None = None
        self._error: Exception | None = None
        self._thread = threading.Thread(target=self._compute, name="sha256", daemon=True)
        self._thread.start()

    def _compute(self) -> None:
        digest, size = hashlib.sha256(), self._partial.size
        try:
            for start in range(0, size, CHUNK_BYTES):
                end = min(start + CHUNK_BYTES, size)
                digest.update(self._partial.read(start, end, urgently=False))
            self._digest = digest.hexdigest()
        except Exception as error:
            self._error = error

    def result(self) -> str:
        """Return it, when all has arrived.

        Raises:
            Exception: What made the download fail.
        """
        self._thread.join()
        if self._error:
            raise self._error
        assert self._digest
        return self._digest
