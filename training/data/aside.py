"""Make a folder beside its place, and rename it when it is whole."""

from __future__ import annotations

import fcntl
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from training.errors import JobFailed, UsageError


@contextmanager
def folder_aside(out: Path, option: str) -> Iterator[Path]:
    """Give an empty folder beside `out` that takes its place at the end; nothing is overwritten.

    What a killed run left there is thrown away. The lock keeps a second run of the same folder
    from doing that to a live one.

    Args:
        out: Absent, or an empty folder.
        option: What the user named it with, for messages: `--fix`.

    Raises:
        UsageError: `out` holds something, another run is making it, or its place cannot be
            written to.
        JobFailed: The disk is full, or fails.
    """
    place = out.resolve()
    require_free(out, option)
    folder = place.parent / f".{place.name}.partial"
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        folder.mkdir(exist_ok=True)
        lock = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    except OSError as error:
        raise UsageError(f"{option} {out}: cannot be written ({error.strerror})") from error
    try:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise UsageError(f"{option} {out}: another run is making it; wait for it") from None
        _empty(folder)
        try:
            yield folder
            _sync(folder)
            folder.replace(place)
        except OSError as error:
            shutil.rmtree(folder, ignore_errors=True)
            raise JobFailed(
                f"{option} {out}: cannot be written ({_what_failed(error, folder)}). Nothing is "
                "left of it: make room, or name another disk, and run this again"
            ) from error
        except BaseException:
            shutil.rmtree(folder, ignore_errors=True)
            raise
    finally:
        os.close(lock)


def _what_failed(error: OSError, folder: Path) -> str:
    """Return what the system said, with the file where it is not one of the new folder."""
    said = error.strerror or str(error)
    if error.filename is None or Path(os.fsdecode(error.filename)).is_relative_to(folder):
        return said
    return f"{os.fsdecode(error.filename)}: {said}"


def require_free(out: Path, option: str) -> None:
    """Refuse a folder that holds something.

    Raises:
        UsageError: It does, or it is no folder.
    """
    try:
        is_used = any(out.iterdir())
    except FileNotFoundError:
        return
    except OSError as error:
        raise UsageError(f"{option} {out}: not a folder to write to ({error.strerror})") from error
    if is_used:
        raise UsageError(
            f"{option} {out}: holds something. Nothing is overwritten: name an empty folder, or "
            "one that is not there"
        )


def _empty(folder: Path) -> None:
    for child in folder.iterdir():
        if child.is_dir() and not child.is_symlink():
            shutil.rmtree(child)
        else:
            child.unlink()


def _sync(folder: Path) -> None:
    """Have everything on the disk before the name says that it is whole."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
