"""A folder as one side of a copy: a local disk, or a mounted EFS or FSx for Lustre."""

from __future__ import annotations

import errno
import fcntl
import hashlib
import os
import shutil
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from training.data.digest import CHUNK_BYTES, Digest, Digester, digest_of
from training.data.manifest import MANIFEST, Manifest, parse_manifest
from training.data.paths import problem_of_path
from training.data.side import PARTIAL, ContentChanged, FileState
from training.errors import JobFailed, UsageError

_RESERVED = frozenset({MANIFEST, PARTIAL})


class Folder:
    """A `Side` on a file system."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.name = str(root)
        self._made: set[Path] = set()
        """Folders that are known to be there: on a network file system asking takes time."""

    def files(self) -> dict[str, FileState]:
        with _file_errors(self.root):
            if not self.root.is_dir():
                raise UsageError(f"{self.root}: there is no such folder")
            return dict(self._walk("", frozenset()))

    def _walk(
        self, below: str, parents: frozenset[tuple[int, int]]
    ) -> Iterator[tuple[str, FileState]]:
        """Yield files below a folder; links are followed, since data sets are linked together."""
        folder = self.root / below
        about = folder.stat()
        here = (about.st_dev, about.st_ino)
        if here in parents:
            raise UsageError(f"{folder}: a link leads back to a folder above it. Remove the link")
        with os.scandir(folder) as entries:
            for entry in sorted(entries, key=lambda entry: entry.name):
                if not below and entry.name in _RESERVED:
                    continue
                path = f"{below}/{entry.name}" if below else entry.name
                if entry.is_dir():
                    yield from self._walk(path, parents | {here})
                else:
                    yield path, self._state_of_entry(path)

    def _state_of_entry(self, path: str) -> FileState:
        problem = problem_of_path(path)
        if problem:
            raise UsageError(f"{self.root}: file {path!r} {problem}. Rename it")
        try:
            about = (self.root / path).stat()
        except FileNotFoundError:
            raise UsageError(f"{self.root / path}: a link to nothing. Remove it") from None
        if not stat.S_ISREG(about.st_mode):
            raise UsageError(f"{self.root / path}: neither a file nor a folder. Remove it")
        return _state(about)

    def read(self, path: str, state: FileState, offset: int = 0) -> Iterator[bytes]:
        place = self.root / path
        with _file_errors(place), place.open("rb") as file:
            _require_state(place, os.fstat(file.fileno()), state)
            file.seek(offset)
            left = state.size - offset
            while left > 0:
                chunk = file.read(min(CHUNK_BYTES, left))
                if not chunk:
                    raise ContentChanged(f"{place}: became shorter while it was read. Run again")
                left -= len(chunk)
                yield chunk
            _require_state(place, os.fstat(file.fileno()), state)

    def require_unchanged(self, path: str, state: FileState) -> None:
        place = self.root / path
        with _file_errors(place):
            _require_state(place, place.stat(), state)

    def digest(self, path: str, state: FileState) -> Digest:
        return digest_of(self.read(path, state), state.size)

    def etag(self, state: FileState) -> str | None:  # noqa: ARG002
        return None

    @contextmanager
    def writing(self) -> Iterator[None]:
        partial = self.root / PARTIAL
        with _file_errors(self.root):
            partial.mkdir(parents=True, exist_ok=True)
            lock = (partial / "lock").open("wb")
        with lock:
            self._lock(lock.fileno())
            yield
            shutil.rmtree(partial, ignore_errors=True)

    def _lock(self, file: int) -> None:
        """Refuse a second copy into this folder: the two would write the same partial files."""
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise UsageError(
                f"{self.root}: another copy into this folder is running; wait for it"
            ) from None
        except OSError as error:
            # Lustre that is mounted without `flock` has no locks.
            if error.errno not in {errno.ENOSYS, errno.EOPNOTSUPP, errno.ENOLCK}:
                raise

    def free_bytes(self) -> int:
        return shutil.disk_usage(self.root).free

    def writer(self, path: str, size: int, source_version: str) -> FolderWriter:
        place = self.root / path
        with _file_errors(place):
            self._make_parent(place)
        name = hashlib.sha256(f"{path}\0{size}\0{source_version}".encode()).hexdigest()[:32]
        return FolderWriter(place, self.root / PARTIAL / name, size)

    def _make_parent(self, place: Path) -> None:
        parent = place.parent
        if parent in self._made:
            return
        try:
            parent.mkdir(parents=True, exist_ok=True)
        except (FileExistsError, NotADirectoryError):
            raise UsageError(f"{parent}: a file is where a folder must be. Move it away") from None
        if not parent.resolve().is_relative_to(self.root.resolve()):
            raise UsageError(f"{parent}: a link leads out of {self.root}. Remove the link")
        self._made.add(parent)

    def read_manifest(self) -> Manifest | None:
        path = self.root / MANIFEST
        with _file_errors(path):
            try:
                return parse_manifest(path.read_bytes(), str(path))
            except FileNotFoundError:
                return None

    def write_manifest(self, manifest: Manifest) -> None:
        path = self.root / MANIFEST
        aside = self.root / PARTIAL / MANIFEST
        with _file_errors(path):
            with aside.open("wb") as file:
                file.write(manifest.to_bytes())
                file.flush()
                os.fsync(file.fileno())
            aside.replace(path)


class FolderWriter:
    """A file that grows aside, in the same file system, and is renamed when it is whole."""

    def __init__(self, place: Path, partial: Path, size: int) -> None:
        self._place = place
        self._partial = partial
        self._size = size
        with _file_errors(place):
            self._file = partial.open("a+b")

    def begin(self, digester: Digester, *, resume: bool) -> int:
        with _file_errors(self._place):
            if not resume or self._file.seek(0, os.SEEK_END) > self._size:
                self._file.truncate(0)
            self._file.seek(0)
            while chunk := self._file.read(CHUNK_BYTES):
                digester.update(chunk)
            return self._file.tell()

    def write(self, chunk: bytes) -> None:
        with _file_errors(self._place):
            self._file.write(chunk)

    def commit(self) -> FileState:
        with _file_errors(self._place):
            self._file.flush()
            # Before the rename: else a crash of the host can leave an empty file under the name.
            os.fsync(self._file.fileno())
            self._file.close()
            try:
                self._partial.replace(self._place)
            except IsADirectoryError:
                raise UsageError(
                    f"{self._place}: a folder is where a file must be. Move it away"
                ) from None
            return _state(self._place.stat())

    def discard(self) -> None:
        self.close()
        self._partial.unlink(missing_ok=True)

    def close(self) -> None:
        with _file_errors(self._place):
            self._file.close()


def _state(about: os.stat_result) -> FileState:
    return FileState(about.st_size, f"{about.st_ino}-{about.st_mtime_ns}")


def _require_state(place: Path, about: os.stat_result, state: FileState) -> None:
    if _state(about) != state:
        raise ContentChanged(
            f"{place}: changed while it was copied. Wait until nothing writes to it, run again"
        )


@contextmanager
def _file_errors(place: Path) -> Iterator[None]:
    """Turn what the operating system says into one message with the place."""
    try:
        yield
    except OSError as error:
        where = error.filename or place
        if error.errno in {errno.ENOSPC, errno.EDQUOT}:
            raise JobFailed(f"{where}: no space is left. Free some and run again") from error
        refused = error.errno in {errno.EACCES, errno.EPERM, errno.EROFS, errno.ENOTDIR}
        kind = UsageError if refused else JobFailed
        raise kind(f"{where}: {error.strerror or error}") from error
