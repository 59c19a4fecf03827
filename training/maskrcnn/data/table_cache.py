"""Tables that are kept: an annotation file is parsed once, and mapped from then on.

A table is kept beside the data, or in the user's cache where the data is read only. Its name has
the file's identity, so that a table of another content is never taken. It is made aside and
renamed; the ranks of a host wait for the one that makes it.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from training.layout import ANNOTATION_TABLES
from training.maskrcnn.data.table import VERSION, Table

ABANDONED_S = 3600
"""A table that is being made takes a minute at most."""
SMALL_BYTES = 8 * 2**20
"""An annotation file up to this size is parsed in an instant, and leaves no table."""


def cached_table(annotations: Path, make: Callable[[], Table], folders: Sequence[Path]) -> Table:
    """Return the table of an annotation file.

    Args:
        annotations: The file.
        make: Parses it.
        folders: Where tables may be kept, the best first.
    """
    try:
        about = annotations.stat()
    except OSError:
        # The parser says what is wrong with the file.
        return make()
    if about.st_size <= SMALL_BYTES:
        return make()
    base = f"{annotations.stem}-{_short_hash(annotations.resolve())}"
    # The change time tells a file that was rewritten with its old size and modification time.
    identity = (VERSION, about.st_size, about.st_mtime_ns, about.st_ctime_ns, about.st_ino)
    name = f"{base}-{_short_hash(identity)}"
    for folder in folders:
        if (table := _open(folder / name)) is not None:
            return table
    made: Table | None = None
    for folder in folders:
        try:
            folder.mkdir(parents=True, exist_ok=True, mode=0o755)
            with _locked(folder / f"{base}.lock"):
                table = _open(folder / name)
                if table is None:
                    made = made or make()
                    table = _save(made, folder, name)
                    _remove_others(folder, base, name)
        except OSError:
            # Read only, full, or not ours: the next place.
            continue
        return table
    return made or make()


def places_of_tables(beside: Path | None) -> list[Path]:
    """Return the folders where tables may be kept.

    Args:
        beside: The data set's own folder of them, if it has one.
    """
    # https://specifications.freedesktop.org/basedir-spec/latest/: a relative path does not count.
    given = Path(os.environ.get("XDG_CACHE_HOME", ""))
    roots = [
        *([given] if given.is_absolute() else []),
        Path("~/.cache"),
        Path(tempfile.gettempdir()),
    ]
    own = [root.expanduser() / f"mask-rcnn-{os.getuid()}" for root in roots]
    kept = [folder / ANNOTATION_TABLES for folder in own if _is_ours(folder)]
    return [*([beside] if beside else []), *kept]


def _is_ours(folder: Path) -> bool:
    """Return whether nobody else made the folder: others can write to /tmp."""
    try:
        return folder.lstat().st_uid == os.getuid() and not folder.is_symlink()
    except FileNotFoundError:
        return True
    except OSError:
        return False


def _open(folder: Path) -> Table | None:
    try:
        return Table.open(folder)
    except (OSError, EOFError, ValueError, KeyError, TypeError):
        return None


def _save(table: Table, folder: Path, name: str) -> Table:
    """Write a table aside and give it its name; return it as it is mapped."""
    aside = Path(tempfile.mkdtemp(prefix=f".{name}.", dir=folder))
    try:
        aside.chmod(0o755)
        table.save(aside)
        try:
            aside.rename(folder / name)
        except OSError:
            # Another host was quicker, or a damaged one is there.
            if (other := _open(folder / name)) is not None:
                return other
            shutil.rmtree(folder / name)
            aside.rename(folder / name)
        return Table.open(folder / name)
    finally:
        shutil.rmtree(aside, ignore_errors=True)


def _remove_others(folder: Path, base: str, name: str) -> None:
    """Remove what was made of the file's former contents, and by runs that were killed."""
    for place in folder.glob(f"{base}-*"):
        if place.name != name:
            shutil.rmtree(place, ignore_errors=True)
    for place in folder.glob(f".{base}-*"):
        # Another host may be writing one now.
        if time.time() - place.stat().st_mtime > ABANDONED_S:
            shutil.rmtree(place, ignore_errors=True)


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    """Wait until no other process of this host makes the table.

    Where the file system has no locks every rank makes its own: they are equal, and the first one
    that is whole stays.
    """
    file = os.open(path, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o644)
    try:
        with suppress(OSError):
            fcntl.flock(file, fcntl.LOCK_EX)
        yield
    finally:
        os.close(file)


def _short_hash(value: object) -> str:
    return hashlib.sha256(repr(value).encode("utf-8", "surrogateescape")).hexdigest()[:12]
