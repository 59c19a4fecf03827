"""A folder as one side of a copy: a local disk, or a mounted EFS or FSx for Lustre."""

from __future__ import annotations

import errno
import hashlib
import os
import shutil
import stat
from collections.abc import Collection, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from training.data.digest import CHUNK_BYTES, Digest, digest_of
from training.data.file_naming import file_errors, name_file, state_of
from training.data.file_system import sync_file_system
from training.data.folder_writer import FolderWriter
from training.data.lock import Hold, Tell, hold, remove_lock_alone
from training.data.manifest import MANIFEST, Manifest, manifest_in
from training.data.paths import problem_of_path
from training.data.side import PARTIAL, ContentChanged, FileState
from training.errors import UsageError
from training.layout import ANNOTATION_TABLES
from training.maskrcnn.files import write_atomically

_NOT_AS_A_WHOLE = frozenset({errno.EEXIST, errno.ENOTEMPTY, errno.ENOTDIR, errno.EXDEV})
"""Somebody took a folder's name in between, or it cannot be moved, where its files perhaps can."""

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

    def files(self, near: Collection[str] = ()) -> dict[str, FileState]:  # noqa: ARG002
        with file_errors(self.root):
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
                if self._is_folder(path, entry):
                    yield from self._walk(path, parents | {here})
                else:
                    yield path, self._state_of_entry(path, entry)

    def _is_folder(self, path: str, entry: os.DirEntry[str]) -> bool:
        try:
            return entry.is_dir()
        except OSError as error:
            if error.errno != errno.ELOOP:
                raise
            raise self._leads_nowhere(path) from None

    def _leads_nowhere(self, path: str) -> UsageError:
        return UsageError(f"{self.root / path}: a link to nothing. Remove it")

    def _state_of_entry(self, path: str, entry: os.DirEntry[str]) -> FileState:
        problem = problem_of_path(path)
        if problem:
            raise UsageError(f"{self.root}: file {path!r} {problem}. Rename it")
        try:
            about = entry.stat()
        except FileNotFoundError:
            raise self._leads_nowhere(path) from None
        if not stat.S_ISREG(about.st_mode):
            raise UsageError(f"{self.root / path}: neither a file nor a folder. Remove it")
        return state_of(about)

    def read(self, path: str, state: FileState, offset: int = 0) -> Iterator[bytes]:
        place = self._start + path
        with file_errors(place), open(place, "rb", buffering=0) as file:  # noqa: PTH123
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
        with file_errors(place):
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
        self._require_inside(partial)
        with file_errors(self.root), hold(partial, self.name, tell) as held:
            try:
                yield held
            except BaseException:
                # Unless there is something to go on with, nothing shows that this was tried.
                with suppress(OSError):
                    remove_lock_alone(partial)
                raise
            shutil.rmtree(partial, ignore_errors=True)

    def free_bytes(self) -> int:
        """Return what can be written, which what an interrupted copy left is part of."""
        left = (self.root / PARTIAL).rglob("*")
        with file_errors(self.root):
            return shutil.disk_usage(self.root).free + sum(
                path.lstat().st_size for path in left if not path.is_dir()
            )

    def writer(self, path: str, size: int, source_version: str) -> FolderWriter:
        place = self._place(path)
        name = hashlib.sha256(f"{path}\0{size}\0{source_version}".encode()).hexdigest()[:32]
        return FolderWriter(place, self.root / PARTIAL / name, size)

    def sync(self) -> None:
        """Wait until all that was written to the file system is on its disks."""
        with file_errors(self.root):
            sync_file_system(self.root)

    def state(self, path: str) -> FileState:
        place = self._start + path
        with file_errors(place):
            return state_of(os.stat(place))  # noqa: PTH116

    def adopt(self, other: Folder, path: str) -> None:
        """Give a whole file of another folder, in the same file system, its name here.

        Its state remains as it was.
        """
        place = self._start + path
        self._make_folder(place.rpartition("/")[0])
        with file_errors(place):
            name_file(other._start + path, place)

    def adopt_folder(self, other: Folder, path: str, files: int) -> bool:
        """Give a folder of another one, in the same file system, its name here in one step.

        Returns:
            False, with nothing done, where something has its name here, where it holds another
            number of files, or where the file system cannot do it.
        """
        there, place = other._start + path, self._start + path
        with file_errors(there):
            if os.path.lexists(place) or _count_files(there) != files:
                return False
        self._make_folder(place.rpartition("/")[0])
        with file_errors(place):
            try:
                os.rename(there, place)  # noqa: PTH104
            except OSError as error:
                if error.errno in _NOT_AS_A_WHOLE:
                    return False
                raise
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
        self._require_inside(folder)
        with file_errors(folder):
            try:
                folder.mkdir(parents=True, exist_ok=True)
            except (FileExistsError, NotADirectoryError):
                raise UsageError(
                    f"{folder}: a file is where a folder must be. Move it away"
                ) from None
        self._made.add(name)

    def _require_inside(self, folder: Path) -> None:
        if not folder.resolve().is_relative_to(self.root.resolve()):
            raise UsageError(f"{folder}: a link leads out of {self.root}. Remove the link")

    def remove(self, paths: Collection[str]) -> None:
        parents = {(self.root / path).parent for path in paths}
        for parent in parents:
            self._require_inside(parent)
        for path in paths:
            with file_errors(self.root / path):
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
        with file_errors(self.root / MANIFEST):
            return manifest_in(self.root)

    def write_manifest(self, manifest: Manifest) -> None:
        path = self.root / MANIFEST
        with file_errors(path):
            write_atomically(path, manifest.to_bytes(), aside=self.root / PARTIAL / MANIFEST)

    def write_journal(self, manifest: Manifest) -> None:
        """Do nothing: what is here can be read and compared."""


def _count_files(folder: str) -> int:
    return sum(len(files) for _, _, files in os.walk(folder))


def _require_state(place: str, about: os.stat_result, state: FileState) -> None:
    if state_of(about) != state:
        raise ContentChanged(
            f"{place}: changed while it was copied. Wait until nothing writes to it, run again"
        )
