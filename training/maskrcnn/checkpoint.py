"""Checkpoints that survive being killed at any moment and a full disk.

One is `step-00001200.pt` with a checksum in `step-00001200.pt.sha256`, which `sha256sum -c` reads.
Each is written aside, flushed and renamed, the checksum first: a checkpoint counts from the moment
its own rename is done. No generator's state is in it, since every random choice follows from the
seed and the position (`training.maskrcnn.data`).
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, BinaryIO, cast

import torch

from training.errors import JobFailed
from training.maskrcnn.files import sync_folder, write_atomically, written_aside

State = dict[str, Any]


@dataclass(frozen=True)
class CheckpointFolder:
    """The checkpoints of one job."""

    folder: Path
    keep: int
    """How many to keep, the newest."""

    def save(self, state: State, *, step: int) -> Path:
        """Write a checkpoint, then remove those that are too old.

        Raises:
            JobFailed: It cannot be written. The checkpoints before it are still there.
        """
        path = self.folder / f"step-{step:08}.pt"
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            self._remove_unfinished()
            self._write(path, state)
            self._remove_old(path)
        except OSError as error:
            newest = next(iter(self._newest_first()), None)
            kept = f"{newest.name} is still there" if newest else "there is none before it"
            raise JobFailed(
                f"{path}: the checkpoint cannot be written ({error.strerror}); {kept}. Make room "
                "and run the same job again with resume"
            ) from error
        return path

    def load_newest(self, warn: Callable[[str], None]) -> State | None:
        """Return the newest checkpoint that is whole, or None where there is none at all.

        Args:
            warn: Told of each checkpoint that is passed over.

        Raises:
            JobFailed: There are some, and none can be read: a run from the beginning would remove
                them, and the file system may only be away for a moment.
        """
        paths = self._newest_first()
        for path in paths:
            try:
                return read_checkpoint(path)
            except JobFailed as error:
                if path is paths[-1]:
                    raise JobFailed(
                        f"none of {len(paths)} checkpoints can be used, the oldest of them: "
                        f"{error}. Mend them, or give another --log-dir to begin anew"
                    ) from error
                warn(f"{error}; trying the one before it")
        return None

    def _write(self, path: Path, state: State) -> None:
        with written_aside(path) as file:
            hashing = _HashingWriter(file)
            try:
                torch.save(state, cast(IO[bytes], hashing))
            except RuntimeError as error:
                # What torch makes of a write that failed.
                raise hashing.failure or error from error
            checksum = f"{hashing.hexdigest()}  {path.name}\n"
            write_atomically(_checksum_path(path), checksum.encode())

    def _newest_first(self) -> list[Path]:
        return sorted(self.folder.glob("step-*.pt"), reverse=True)

    def _remove_old(self, saved: Path) -> None:
        """Remove what is older than the newest ones, and what is of a later step.

        A later one is damaged, and was passed over when the job went on from before it.
        """
        paths = self._newest_first()
        later = [path for path in paths if path.name > saved.name]
        for path in later + paths[len(later) + self.keep :]:
            path.unlink()
            _checksum_path(path).unlink(missing_ok=True)
        sync_folder(self.folder)

    def _remove_unfinished(self) -> None:
        """Remove what a killed save left."""
        for path in self.folder.glob(".step-*.tmp"):
            path.unlink()
        for path in self.folder.glob("step-*.pt.sha256"):
            if not path.with_suffix("").exists():
                path.unlink()


def read_checkpoint(path: Path) -> State:
    """Read one checkpoint and check it against its checksum.

    Raises:
        JobFailed: It cannot be read, is damaged or holds other things than tensors and numbers.
    """
    try:
        expected = _checksum_path(path).read_text(encoding="ascii").split()[0]
        with path.open("rb") as file:
            if hashlib.file_digest(file, "sha256").hexdigest() != expected:
                raise JobFailed(f"{path}: damaged, its checksum differs from {path.name}.sha256")
            file.seek(0)
            state: State = torch.load(file, map_location="cpu", weights_only=True)
    except JobFailed:
        raise
    except Exception as error:  # torch.load raises many kinds
        raise JobFailed(f"{path}: cannot be read ({error})") from error
    return state


def _checksum_path(path: Path) -> Path:
    return path.with_name(f"{path.name}.sha256")


class _HashingWriter:
    """Passes a file on as it is written, so that it is never in memory as a whole."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._hash = hashlib.sha256()
        self.failure: OSError | None = None

    def write(self, data: bytes) -> int:
        try:
            written = self._file.write(data)
        except OSError as error:
            self.failure = error
            raise
        self._hash.update(data)
        return written

    def flush(self) -> None:
        self._file.flush()

    def hexdigest(self) -> str:
        return self._hash.hexdigest()
