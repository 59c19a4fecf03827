"""What an interrupted run leaves, so that the next one goes on: the plan, and a note a shard.

A shard counts as done when both it and its note are there under their final names, of one plan.
Everything is in a folder beside the shards that is locked while a run uses it, and removed at the
end.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from training.data.lock import try_lock
from training.data.pack.shard import Written
from training.data.pack.whole_file import aside_of, whole_file
from training.errors import UsageError

_PLAN = "plan.json"


class Work:
    """The notes of one split's packing."""

    def __init__(self, folder: Path, shards: Path, names: Sequence[str], state: str) -> None:
        self._folder = folder
        self._shards = shards
        if (plan := self._read(_PLAN)) != {"state": state, "names": [*names]}:
            self._drop(plan)
            self._require_free(names)
            self._write(_PLAN, {"state": state, "names": [*names]})

    def _drop(self, plan: Any) -> None:
        """Remove what was written of another plan: nothing else would ever do so."""
        for name in plan["names"] if plan else ():
            (self._shards / name).unlink(missing_ok=True)
            aside_of(self._shards / name).unlink(missing_ok=True)
            (self._folder / f"{name}.note").unlink(missing_ok=True)

    def _require_free(self, names: Sequence[str]) -> None:
        for name in names:
            if (self._shards / name).exists():
                raise UsageError(
                    f"{self._shards / name}: is there already, and no index says what it is. "
                    "Nothing is overwritten: remove it, or name another folder"
                )

    def done(self, name: str) -> Written | None:
        """Return a shard that an earlier run made."""
        try:
            written = Written.from_json(self._read(f"{name}.note"))
            is_there = (self._shards / name).stat().st_size == written.file.size
        except (OSError, KeyError, TypeError, ValueError):
            return None
        return written if is_there else None

    def note(self, written: Written) -> None:
        """Note a shard that has its name now."""
        self._write(f"{written.file.name}.note", written.to_json())

    def _read(self, name: str) -> Any:
        try:
            return json.loads((self._folder / name).read_bytes())
        except (OSError, ValueError):
            return None

    def _write(self, name: str, value: Any) -> None:
        with whole_file(self._folder / name) as file:
            file.write(json.dumps(value).encode())


@contextmanager
def open_work(shards: Path, name: str, names: Sequence[str], state: str) -> Iterator[Work]:
    """Give the notes of a split's packing to one run at a time.

    Args:
        shards: Folder of the shards.
        name: Of the split.
        names: Of its shards.
        state: Of the source and the options.

    Raises:
        UsageError: Another run packs this split.
        OSError: The folder cannot be written to.
    """
    folder = _folder(shards, name)
    folder.mkdir(parents=True, exist_ok=True)
    lock = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        if not try_lock(lock):
            raise UsageError(f"{shards}: another run packs {name} there; wait for it")
        yield Work(folder, shards, names, state)
    finally:
        os.close(lock)


def remove_work(shards: Path, name: str) -> None:
    """Remove the notes of a split whose shards have their index."""
    shutil.rmtree(_folder(shards, name), ignore_errors=True)


def _folder(shards: Path, name: str) -> Path:
    return shards / f".{name}.packing"
