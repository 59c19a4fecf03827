"""Make a folder beside its place, and rename it when it is whole."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from training.data.file_system import sync_file_system
from training.data.lock import try_lock
from training.errors import JobFailed, UsageError
from training.maskrcnn.files import FULL, sync_folder


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
        if not try_lock(lock):
            raise UsageError(f"{option} {out}: another run is making it; wait for it")
        _empty(folder)
        try:
            yield folder
            # Before the name says that it is whole: a crash of the host would leave empty files.
            sync_file_system(folder)
            folder.replace(place)
            sync_folder(place.parent)
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
    if error.errno in FULL:
        return said  # Where a copy fails for it, the system names the file that is copied.
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
