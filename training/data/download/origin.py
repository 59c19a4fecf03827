"""Which file is being downloaded, and how much of it is there: kept beside it, to go on later."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict

from training.data.download.ranges import Range


class Origin(BaseModel):
    """Which file it is that is being downloaded."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    size: int
    address: str
    validator: str | None
    """As the server gave it: an ETag or the time of the last change."""
    sha256: str | None
    """Of the whole file, where it is known."""

    def continues(self, before: Origin) -> bool:
        """Return whether bytes of the origin `before` can be kept.

        From another address only where a checksum will prove that the files were the same.
        """
        if (self.size, self.sha256) != (before.size, before.sha256):
            return False
        if self.address != before.address:
            return self.sha256 is not None
        if self.validator is None:
            return self.sha256 is not None
        return self.validator == before.validator


class Note(BaseModel):
    """How far a download is, as it is kept beside it."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    origin: Origin
    ranges: tuple[Range, ...]
