"""told.json: which changes of a job were told, and how often that was tried.

EventBridge takes an event twice where it comes twice. So each try is written down before it is
made, and one without an answer counts as told: whoever conducts the job, and however often a
conductor is killed, a change is told twice at most.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from node import json_file

from .state import read_object

MOST_UNSURE = 2
"""Tries of one change that may have arrived."""


class Told:
    """Args:
    path: Of the file.
    created: When the job was submitted: what is there of an earlier submission counts no more.
    """

    def __init__(self, path: Path, created: str) -> None:
        self._path = path
        self._created = created

    def lacks(self, status: str) -> bool:
        """Return whether a job of which something was told has not been told this, and may be."""
        unsure, is_done = self._of(status)
        return bool(self._read()) and not is_done and unsure < MOST_UNSURE

    def begin(self, status: str) -> bool:
        """Note a try that is about to be made; False where there must be no more."""
        unsure, is_done = self._of(status)
        if is_done or unsure >= MOST_UNSURE:
            return False
        self._write(status, unsure + 1, is_done=False)
        return True

    def take_back(self, status: str) -> None:
        """Note that the try was refused, so that nobody was told."""
        unsure, is_done = self._of(status)
        self._write(status, max(0, unsure - 1), is_done=is_done)

    def finish(self, status: str) -> None:
        """Note that the change was told."""
        self._write(status, self._of(status)[0], is_done=True)

    def _of(self, status: str) -> tuple[int, bool]:
        entry = self._read().get(status)
        if not isinstance(entry, dict):
            return 0, False
        unsure = entry.get("unsure")
        return unsure if isinstance(unsure, int) else 0, entry.get("done") is True

    def _read(self) -> dict[str, Any]:
        document = read_object(self._path)
        return document if document.get("created") == self._created else {}

    def _write(self, status: str, unsure: int, *, is_done: bool) -> None:
        entry = {"unsure": unsure, "done": is_done}
        json_file.write(self._path, {**self._read(), "created": self._created, status: entry})
