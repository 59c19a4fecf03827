"""A file while it is downloaded: several threads write its parts, others read what is there.

It lies in a folder of its own with a note of which bytes are there and where they come from, so
that a download which was killed goes on.
"""

from __future__ import annotations

import os
import shutil
import threading
import time
from dataclasses import dataclass
from pathlib import Path

from pydantic import ValidationError

from training.data.download.disk import disk_errors
from training.data.download.origin import Note, Origin
from training.data.download.ranges import Range, Ranges, next_range
from training.data.progress import SILENT, Progress
from training.maskrcnn.files import write_atomically

MIB = 1024 * 1024


@dataclass(frozen=True, kw_only=True)
class Grain:
    """In what portions a file is downloaded."""

    piece_bytes: int = 16 * MIB
    """Of one request: long enough that asking costs little, short enough to share among
    connections."""
    note_s: float = 2.0
    """Seconds between two notes of what is there; what a crash can lose."""


class Abandoned(Exception):
    """Bytes that are waited for will not come: the download was stopped."""


@dataclass(frozen=True)
class Leftover:
    """What an interrupted download left, in bytes."""

    noted: int
    """Of the file, that need not be fetched again."""
    on_disk: int
    """That the file takes up: more than is noted where a crash or a full disk came in between."""
    unpacked: int


class Partial:
    """The file and what is known of it; methods may be called from several threads."""

    def __init__(self, folder: Path, progress: Progress = SILENT, grain: Grain = Grain()) -> None:
        self.folder = folder
        self.archive = folder / "archive"
        self.files = folder / "files"
        """For what is unpacked and not yet verified."""
        self.origin: Origin | None = None
        self.fetched_bytes = 0
        """That were written by this process."""
        self.forgotten = 0
        """How often a part turned out to be damaged."""
        self._note = folder / "note.json"
        self._progress = progress
        self._grain = grain
        self._changed = threading.Condition()
        self._noting = threading.Lock()
        self._noted_at = time.monotonic()
        self._covered = Ranges()
        self._taken = Ranges()
        self._wanted: list[Range] = []
        self._goals: list[Range] = []
        self._error: Exception | None = None
        self._round = 0
        self._is_fetched = False
        """Whether somebody fetches what is waited for."""
        self._file = -1

    def adopt(self, origin: Origin) -> bool:
        """Begin with an origin, or go on where the same file was left; return whether it was."""
        with disk_errors(self.folder):
            if self.origin is None:
                self._load()
            goes_on = self.origin is not None and origin.continues(self.origin)
            if not goes_on:
                self.discard()
                self.folder.mkdir(parents=True)
                self._open(origin.size)
            self.origin = origin
            self.save()
        return goes_on

    def _load(self) -> None:
        """Take up what an earlier process left, where it can be trusted."""
        try:
            note = Note.model_validate_json(self._note.read_bytes())
            if self.archive.stat().st_size != note.origin.size:
                return
        except (FileNotFoundError, ValidationError):
            return
        self._open(note.origin.size)
        self.origin = note.origin
        with self._changed:
            for start, end in note.ranges:
                self._covered.add(max(0, start), min(end, note.origin.size))
            self._progress.advance(self._covered.total())

    def _open(self, size: int) -> None:
        self._file = os.open(self.archive, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
        os.ftruncate(self._file, size)

    def discard(self) -> None:
        """Throw away all that is there."""
        with self._changed:
            self._round += 1
            self._progress.advance(-self._covered.total())
            self._covered.clear()
            self.close()
            self.origin = None
            shutil.rmtree(self.folder, ignore_errors=True)

    @classmethod
    def left_by_earlier_run(cls, folder: Path) -> Leftover:
        """Return what an interrupted download left in a folder; nothing is changed there."""
        partial = cls(folder)
        partial._load()
        noted = partial.covered_bytes()
        partial.close()
        archive, files = partial.archive, partial.files
        on_disk = archive.stat().st_blocks * 512 if archive.exists() else 0
        unpacked = [path.stat().st_size for path in files.iterdir()] if files.exists() else []
        return Leftover(noted, on_disk, sum(unpacked))

    def close(self) -> None:
        if self._file >= 0:
            os.close(self._file)
            self._file = -1

    def save(self) -> None:
        """Note which bytes are there, after they are on disk."""
        with self._noting:
            self._noted_at = time.monotonic()
            with self._changed:
                if self.origin is None:
                    return
                note = Note(origin=self.origin, ranges=tuple(self._covered))
                file = os.dup(self._file)
            try:
                # A note of bytes that a crash of the host can still lose would be a lie.
                os.fdatasync(file)
            finally:
                os.close(file)
            write_atomically(
                self._note,
                note.model_dump_json().encode(),
                aside=self.folder / "note.json.new",
            )

    @property
    def size(self) -> int:
        assert self.origin
        return self.origin.size

    def covered_bytes(self) -> int:
        with self._changed:
            return self._covered.total()

    # For those who read.

    def want(self, goals: list[Range]) -> None:
        """Say what is to be fetched, besides what somebody waits for."""
        with self._changed:
            self._goals = goals
            self._changed.notify_all()

    def read(self, start: int, end: int, *, urgently: bool = True) -> bytes:
        """Return bytes of the file, as soon as they are there.

        What is read urgently is fetched before all else, even if it is no goal.

        Raises:
            Exception: What made the download fail.
            Abandoned: Nobody fetches the bytes any more.
        """
        with self._changed:
            if not self._covered.covers(start, end):
                waits_for = [(start, end)] if urgently else []
                self._wanted += waits_for
                self._changed.notify_all()
                try:
                    while not self._covered.covers(start, end):
                        if self._error:
                            raise self._error
                        if not self._is_fetched:
                            raise Abandoned
                        self._changed.wait()
                finally:
                    for range_ in waits_for:
                        self._wanted.remove(range_)
            file = os.dup(self._file)
        try:
            with disk_errors(self.archive):
                return _read_all(file, start, end)
        finally:
            os.close(file)

    def forget(self, start: int, end: int) -> None:
        """Have bytes fetched again: what is there is damaged."""
        with self._changed:
            self.forgotten += 1
            before = self._covered.total()
            self._covered.remove(start, end)
            self._taken.remove(start, end)
            self._progress.advance(self._covered.total() - before)
            self._changed.notify_all()

    # For those who fetch.

    def begin_round(self) -> int:
        """Begin to fetch from an address, and return the number that its threads give with
        everything: what comes from an earlier round is dropped."""
        with self._changed:
            self._round += 1
            self._error = None
            self._is_fetched = True
            self._taken = Ranges(self._covered)
            return self._round

    def end_round(self) -> None:
        with self._changed:
            self._round += 1
            self._is_fetched = False
            self._changed.notify_all()

    def fail(self, round_: int, error: Exception) -> None:
        """Let all who read or fetch in this round end, the readers with the error."""
        with self._changed:
            if round_ == self._round and self._error is None:
                self._error = error
                self._changed.notify_all()

    def is_open(self, round_: int) -> bool:
        with self._changed:
            return round_ == self._round and self._error is None

    def take(self, round_: int) -> Range | None:
        """Return what to fetch next, waiting for it; None when the round is over."""
        with self._changed:
            while round_ == self._round and self._error is None:
                part = next_range(self._wanted, self._goals, self._taken, self._grain.piece_bytes)
                if part:
                    self._taken.add(*part)
                    return part
                self._changed.wait()
        return None

    def give_back(self, round_: int, part: Range) -> None:
        """Let others fetch what has not come of a part that was taken."""
        with self._changed:
            if round_ == self._round:
                for gap in self._covered.missing(*part):
                    self._taken.remove(*gap)
                self._changed.notify_all()

    def write(self, round_: int, at: int, data: bytes) -> bool:
        """Add bytes; return whether the round goes on.

        What is there already stays as it is: what was read of it must not change behind the
        reader's back.
        """
        with self._changed, disk_errors(self.archive):
            if round_ != self._round:
                return False
            for start, end in list(self._covered.missing(at, at + len(data))):
                _write_all(self._file, start, data[start - at : end - at])
                self._covered.add(start, end)
                self.fetched_bytes += end - start
                self._progress.advance(end - start)
            self._changed.notify_all()
            is_due = time.monotonic() - self._noted_at > self._grain.note_s
        if is_due and not self._noting.locked():
            with disk_errors(self.folder):
                self.save()
        return True


def _read_all(file: int, start: int, end: int) -> bytes:
    parts = []
    while start < end:
        part = os.pread(file, end - start, start)
        if not part:
            raise OSError("the file became shorter while it was read")
        parts.append(part)
        start += len(part)
    return b"".join(parts)


def _write_all(file: int, at: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        count = os.pwrite(file, view, at)
        at += count
        view = view[count:]
