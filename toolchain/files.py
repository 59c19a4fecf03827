"""Small file idioms: locks, fingerprints and stamps."""

from __future__ import annotations

import fcntl
import hashlib
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from toolchain.errors import SetupError
from toolchain.processes import Progress


@contextmanager
def locked(path: Path, progress: Progress) -> Iterator[None]:
    """Hold an exclusive lock; the kernel frees it when this process dies, however it does."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            progress(f"waiting for another set-up that holds {path}")
            fcntl.flock(file, fcntl.LOCK_EX)
        yield


def make_writable_folder(path: Path, advice: str) -> None:
    """Make a folder and its parents.

    Raises:
        SetupError: It cannot be made or written.
    """
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise SetupError(f"{path}: cannot be made ({error.strerror}). {advice}") from error
    if not os.access(path, os.W_OK | os.X_OK):
        raise SetupError(f"{path}: not writable. {advice}")


def fingerprint(*parts: str | Path) -> str:
    """Return a hash of texts and of the content of files."""
    digest = hashlib.sha256()
    for part in parts:
        data = part.read_bytes() if isinstance(part, Path) else part.encode()
        digest.update(f"{len(data)}:".encode() + data)
    return digest.hexdigest()


@dataclass(frozen=True)
class Stamp:
    """Says that a piece of work is done, and from which inputs."""

    path: Path
    inputs: str
    """Fingerprint of all that the work depends on."""

    def is_fresh(self) -> bool:
        try:
            return self.path.read_text(encoding="utf-8") == self.inputs
        except OSError:
            return False

    def write(self) -> None:
        """Record that the work is done, in one step."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        aside = self.path.with_name(f"{self.path.name}.new")
        aside.write_text(self.inputs, encoding="utf-8")
        aside.replace(self.path)

    def remove(self) -> None:
        """Record that the work is under way."""
        self.path.unlink(missing_ok=True)
