"""Copies one file from any side to any other, through this process."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass

from training.data.digest import Digest, Digester
from training.data.progress import Progress
from training.data.side import ContentChanged, FileState, Side
from training.errors import JobFailed


@dataclass(frozen=True)
class Copied:
    """A file that has arrived.

    Attributes:
        digest: With its SHA-256.
        state: At the target; None where only a listing will tell.
    """

    digest: Digest
    state: FileState | None


@dataclass(frozen=True)
class Copier:
    """Copies one file."""

    source: Side
    target: Side
    path: str
    state: FileState
    stop: threading.Event
    """Set when another file failed."""
    progress: Progress

    def copy(self, expected: Digest) -> Copied:
        """Copy the file.

        Args:
            expected: What the source's manifest says of it.

        Raises:
            ContentChanged: It changed meanwhile.
            JobFailed: It is not what the manifest says.
        """
        size = self.state.size
        digester = Digester(size)
        with closing(self.target.writer(self.path, size, self.state.version)) as writer:
            # Without a checksum to compare with, nobody could tell what a crash of the host left.
            offset = writer.begin(digester, resume=expected.sha256 is not None)
            self.progress.advance(offset)
            for chunk in self._read(offset):
                digester.update(chunk)
                writer.write(chunk)
                self.progress.advance(len(chunk))
            digest = digester.digest()
            try:
                self._require_right(digester.seen_bytes, digest, expected, offset)
            except JobFailed:
                writer.discard()
                raise
            return Copied(digest, writer.commit())

    def _require_right(
        self, seen_bytes: int, digest: Digest, expected: Digest, resumed_bytes: int
    ) -> None:
        name = f"{self.source.name}: {self.path!r}"
        self.source.require_unchanged(self.path, self.state)
        if seen_bytes != self.state.size:
            raise ContentChanged(
                f"{name} gave {seen_bytes:,} bytes, not {self.state.size:,}. Run again"
            )
        if resumed_bytes and expected.agrees(digest) is False:
            raise JobFailed(f"{name}: what an interrupted copy had left is damaged. Run again")
        require_expected(name, digest, expected)

    def _read(self, offset: int) -> Iterator[bytes]:
        for chunk in self.source.read(self.path, self.state, offset):
            if self.stop.is_set():
                raise JobFailed(f"{self.path!r}: stopped, since another file failed")
            yield chunk


def require_expected(name: str, digest: Digest, expected: Digest) -> None:
    """Raise JobFailed where a file is not what its manifest says."""
    if expected.agrees(digest) is False:
        raise JobFailed(
            f"{name} has SHA-256 {digest.sha256}, its manifest says {expected.sha256}. "
            "Stage the data there again from its source"
        )
