"""One copy into a folder at a time: the next one waits, and sees how far the first has come."""

from __future__ import annotations

import errno
import fcntl
import json
import os
import socket
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from training.data.progress import Progress, format_bytes
from training.errors import JobFailed

Tell = Callable[[str], None]
"""Tells the user something that is no result: a line on stderr."""

LOCK = "lock"
"""The file that is locked; it says who holds it."""

STALLED_S = 900.0
"""Without a byte more for so long, the copy that is waited for hangs."""

_POLL_S = 0.2
_TELL_EVERY_S = 10.0
_NOTE_EVERY_S = 2.0

_NO_LOCKS = frozenset({errno.ENOSYS, errno.EOPNOTSUPP, errno.ENOLCK})
"""What Lustre answers that is mounted without `flock`: there copies are not kept apart."""


class Held(Exception):
    """Another process has the right to write to a place."""


class Hold:
    """The right to write to a place."""

    def __init__(self, file: int | None = None, *, waited: bool = False) -> None:
        """Args: `waited` is whether another copy had it first."""
        self.waited = waited
        self._file = file
        self._done_bytes = 0
        self._next_note_at = 0.0
        self._write_note()

    def seeing(self, progress: Progress) -> Progress:
        """Return the same progress, of which whoever waits is told as well."""
        return _Seen(progress, self)

    def note(self, amount: int) -> None:
        """Note that so many bytes more are at the target."""
        self._done_bytes += amount
        if time.monotonic() >= self._next_note_at:
            self._write_note()

    def _write_note(self) -> None:
        self._next_note_at = time.monotonic() + _NOTE_EVERY_S
        if self._file is None:
            return
        who = {"pid": os.getpid(), "host": socket.gethostname(), "done_bytes": self._done_bytes}
        note = json.dumps(who).encode()
        # On a full disk the copy itself will say so.
        try:
            os.pwrite(self._file, note, 0)
            os.ftruncate(self._file, len(note))
        except OSError:
            pass


class _Seen:
    def __init__(self, progress: Progress, held: Hold) -> None:
        self._progress, self._held = progress, held

    def advance(self, amount: int) -> None:
        self._held.note(amount)
        self._progress.advance(amount)


@contextmanager
def hold(folder: Path, name: str, tell: Tell) -> Iterator[Hold]:
    """Lock a folder while the block runs; wait while another process holds it.

    Args:
        folder: Holds the lock file; it is made, and may be removed by whoever holds it.
        name: Of the place, for messages.
        tell: Told that this waits, and how far the other is.

    Raises:
        JobFailed: The other got nothing done for `STALLED_S`.
        OSError: The lock file cannot be made.
    """
    waited = False

    def wait(file: int) -> None:
        nonlocal waited
        waited = _wait(file, name, tell) or waited

    file = _lock(folder, wait)
    try:
        yield Hold(file, waited=waited)
    finally:
        os.close(file)


@contextmanager
def hold_at_once(folder: Path) -> Iterator[Hold]:
    """Lock a folder as `hold` does, unless another process holds it.

    Raises:
        Held: Another one does.
        OSError: The lock file cannot be made.
    """

    def take(file: int) -> None:
        if not try_lock(file):
            raise Held

    file = _lock(folder, take)
    try:
        yield Hold(file)
    finally:
        os.close(file)


def remove_lock_alone(folder: Path) -> None:
    """Remove the folder of a lock that this process holds, where nothing else is in it."""
    if [path.name for path in folder.iterdir()] == [LOCK]:
        (folder / LOCK).unlink()
        folder.rmdir()


def _lock(folder: Path, take: Callable[[int], None]) -> int:
    """Return the lock file of a folder, opened, once `take` has locked it."""
    while True:
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except FileExistsError:
            if folder.exists() and not folder.is_dir():
                raise
            continue  # It was there, and was removed in between.
        try:
            file = os.open(folder / LOCK, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o644)
        except FileNotFoundError:
            continue  # It was removed in between.
        try:
            take(file)
            is_the_one = _is_at(file, folder / LOCK)
        except BaseException:
            os.close(file)
            raise
        if is_the_one:
            return file
        os.close(file)  # Its holder removed it at its end: a third may hold a new one.


def _wait(file: int, name: str, tell: Tell) -> bool:
    """Lock a file, and return whether that took waiting."""
    if try_lock(file):
        return False
    note, changed_at, tell_at = b"", time.monotonic(), 0.0
    while not try_lock(file):
        now, last = time.monotonic(), note
        note = os.pread(file, 1000, 0)
        if note != last:
            changed_at = now
        if now - changed_at > STALLED_S:
            raise JobFailed(
                f"{name}: another copy into this folder ({_describe(note)}) has got nothing done "
                f"for {STALLED_S / 60:.0f} minutes. End it, and run this again"
            )
        if now >= tell_at:
            tell_at = now + _TELL_EVERY_S
            tell(f"{name}: waiting for another copy into this folder ({_describe(note)})")
        time.sleep(_POLL_S)
    return True


def try_lock(file: int) -> bool:
    """Lock an open file or folder, and return False where another process has locked it.

    Where the file system has no locks, this is True for all.
    """
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError as error:
        if error.errno not in _NO_LOCKS:
            raise
    return True


def _is_at(file: int, path: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(file), path.stat())
    except FileNotFoundError:
        return False


def _describe(note: bytes) -> str:
    try:
        who: Any = json.loads(note)
        done = format_bytes(who["done_bytes"])
        return f"process {who['pid']} on {who['host']}, {done} so far"
    except (ValueError, KeyError, TypeError):
        return "it has just begun"
