"""A folder as one side of a copy: a local disk, or a mounted EFS or FSx for Lustre."""

from __future__ import annotations

import ctypes
import errno
import hashlib
import os
import shutil
import stat
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from pathlib import Path

from training.data.digest import CHUNK_BYTES, Digest, Digester, digest_of
from training.data.lock import Hold, Tell, hold
from training.data.manifest import MANIFEST, Manifest, parse_manifest
from training.data.paths import problem_of_path
from training.data.side import PARTIAL, ContentChanged, FileState
from training.errors import JobFailed, UsageError
from training.layout import ANNOTATION_TABLES

_libc = ctypes.CDLL(None, use_errno=True)
"""For `syncfs`, which Python lacks: one call for thousands of files."""

_RESERVED = frozenset({MANIFEST, PARTIAL, ANNOTATION_TABLES})


class Folder:
    """A `Side` on a file system."""

    bucket: str | None = None

    def __init__(self, root: Path) -> None:
        self.root: Path = root
        self.name = str(root)
        self._start = f"{root}/"
        self._made: set[str] = set()
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
                    yield path, self._state_of_entry(path, entry)

    def _state_of_entry(self, path: str, entry: os.DirEntry[str]) -> FileState:
        problem = problem_of_path(path)
        if problem:
            raise UsageError(f"{self.root}: file {path!r} {problem}. Rename it")
        try:
            about = entry.stat()
        except FileNotFoundError:
            raise UsageError(f"{self.root / path}: a link to nothing. Remove it") from None
        if not stat.S_ISREG(about.st_mode):
            raise UsageError(f"{self.root / path}: neither a file nor a folder. Remove it")
        return _state(about)

    def read(self, path: str, state: FileState, offset: int = 0) -> Iterator[bytes]:
        place = self._start + path
        with _file_errors(place), open(place, "rb", buffering=0) as file:  # noqa: PTH123
            _require_state(place, os.fstat(file.fileno()), state)
            if offset:
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
            _require_state(str(place), place.stat(), state)

    def told(self, path: str, state: FileState) -> Digest:  # noqa: ARG002
        return Digest()

    def digest(self, path: str, state: FileState, *, md5: bool = False) -> Digest:
        return digest_of(self.read(path, state), state.size, md5=md5)

    def etag(self, state: FileState) -> str | None:  # noqa: ARG002
        return None

    @contextmanager
    def writing(self, tell: Tell) -> Iterator[Hold]:
        partial = self.root / PARTIAL
        with _file_errors(self.root), hold(partial, self.name, tell) as held:
            yield held
            shutil.rmtree(partial, ignore_errors=True)

    def free_bytes(self) -> int:
        """Return what can be written, which what an interrupted copy left is part of."""
        left = (self.root / PARTIAL).rglob("*")
        with _file_errors(self.root):
            return shutil.disk_usage(self.root).free + sum(
                path.lstat().st_size for path in left if not path.is_dir()
            )

    def writer(self, path: str, size: int, source_version: str) -> FolderWriter:
        place = self._place(path)
        name = hashlib.sha256(f"{path}\0{size}\0{source_version}".encode()).hexdigest()[:32]
        return FolderWriter(place, self.root / PARTIAL / name, size)

    def sync(self) -> None:
        """Wait until all that was written to the file system is on its disks."""
        with _file_errors(self.root):
            file = os.open(self.root, os.O_RDONLY | os.O_DIRECTORY)
            try:
                if _libc.syncfs(file) != 0:
                    raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
            finally:
                os.close(file)

    def state(self, path: str) -> FileState:
        place = self._start + path
        with _file_errors(place):
            return _state(os.stat(place))  # noqa: PTH116

    def adopt(self, other: Folder, path: str) -> None:
        """Give a whole file of another folder, in the same file system, its name here.

        Its state remains as it was.
        """
        place = self._start + path
        self._make_folder(place.rpartition("/")[0])
        with _file_errors(place):
            _name(other._start + path, place)

    def adopt_folder(self, other: Folder, path: str, files: int) -> bool:
        """Give a folder of another one, in the same file system, its name here in one step.

        Returns:
            False, with nothing done, where something has its name here, or where it holds another
            number of files.
        """
        there, place = other._start + path, self._start + path
        with _file_errors(there):
            if os.path.lexists(place) or _count_files(there) != files:
                return False
        self._make_folder(place.rpartition("/")[0])
        with _file_errors(place):
            os.rename(there, place)  # noqa: PTH104
        return True

    def _place(self, path: str) -> Path:
        """Return where a file goes; the folder is there."""
        place = self.root / path
        self._make_folder(str(place.parent))
        return place

    def _make_folder(self, name: str) -> None:
        if name in self._made:
            return
        folder = Path(name)
        with _file_errors(folder):
            try:
                folder.mkdir(parents=True, exist_ok=True)
            except (FileExistsError, NotADirectoryError):
                raise UsageError(
                    f"{folder}: a file is where a folder must be. Move it away"
                ) from None
            self._require_inside(folder)
        self._made.add(name)

    def _require_inside(self, folder: Path) -> None:
        if not folder.resolve().is_relative_to(self.root.resolve()):
            raise UsageError(f"{folder}: a link leads out of {self.root}. Remove the link")

    def remove(self, paths: Collection[str]) -> None:
        parents = {(self.root / path).parent for path in paths}
        for parent in parents:
            self._require_inside(parent)
        for path in paths:
            with _file_errors(self.root / path):
                (self.root / path).unlink(missing_ok=True)
        for parent in sorted(parents, reverse=True):
            self._remove_empty(parent)

    def _remove_empty(self, folder: Path) -> None:
        while folder != self.root:
            try:
                folder.rmdir()
            except OSError:
                return  # It still holds something, or is a link.
            folder = folder.parent

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

    def write_journal(self, manifest: Manifest) -> None:
        """Do nothing: what is here can be read and compared."""


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
            _name(self._partial, self._place)
            return _state(self._place.stat())

    def discard(self) -> None:
        self.close()
        self._partial.unlink(missing_ok=True)

    def close(self) -> None:
        with _file_errors(self._place):
            self._file.close()


def _name(file: str | Path, place: str | Path) -> None:
    try:
        os.replace(file, place)  # noqa: PTH105
    except IsADirectoryError:
        raise UsageError(f"{place}: a folder is where a file must be. Move it away") from None


def _count_files(folder: str) -> int:
    return sum(len(files) for _, _, files in os.walk(folder))


def _state(about: os.stat_result) -> FileState:
    return FileState(about.st_size, f"{about.st_ino}-{about.st_mtime_ns}")


def _require_state(place: str, about: os.stat_result, state: FileState) -> None:
    if _state(about) != state:
        raise ContentChanged(
            f"{place}: changed while it was copied. Wait until nothing writes to it, run again"
        )


@contextmanager
def _file_errors(place: str | Path) -> Iterator[None]:
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
