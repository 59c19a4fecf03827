"""The zip inside a download: judged before anything is unpacked, unpacked while it arrives."""

from __future__ import annotations

import hashlib
import stat
import zipfile
import zlib
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, cast

from training.data.digest import CHUNK_BYTES
from training.data.download.catalogue import Contents
from training.data.download.partial import Partial
from training.data.download.reader import PartialReader
from training.data.download.there import sha256_of
from training.data.manifest import Entry
from training.data.paths import problem_of_path

TRIES = 3
"""Of one member: a part that a crash damaged on disk is fetched again."""

TAIL_BYTES = 64 * 1024
"""Of a zip: where it says where its directory is."""

_METHODS = frozenset({zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED})
_IS_ENCRYPTED = 0x1


class BadArchive(Exception):
    """The file is no zip, or not the one that is meant."""


@dataclass(frozen=True)
class Member:
    """A file of the zip."""

    info: zipfile.ZipInfo
    start: int
    end: int
    """Where it lies in the zip, with its header, in bytes."""

    @property
    def name(self) -> str:
        """Its path in the zip, and in the data set."""
        return self.info.filename

    @property
    def size(self) -> int:
        return self.info.file_size


@contextmanager
def open_archive(partial: Partial) -> Iterator[zipfile.ZipFile]:
    """Open the zip, as soon as its directory, at its end, is there.

    Raises:
        BadArchive: It is none.
    """
    # In one request, where zipfile would read it in three.
    partial.read(max(0, partial.size - TAIL_BYTES), partial.size)
    reader = cast(IO[bytes], PartialReader(partial))
    try:
        archive = zipfile.ZipFile(reader)
    except (zipfile.BadZipFile, ValueError, EOFError, OverflowError) as error:
        raise BadArchive(f"it is no zip, or is damaged ({error})") from error
    with archive:
        yield archive


def members_of(archive: zipfile.ZipFile) -> list[Member]:
    """Return the files of a zip in the order in which they lie there."""
    infos = sorted(
        (info for info in archive.infolist() if not info.is_dir()),
        key=lambda info: info.header_offset,
    )
    ends = [*(info.header_offset for info in infos[1:]), archive.start_dir]
    return [Member(info, info.header_offset, end) for info, end in zip(infos, ends, strict=True)]


def judge(members: Sequence[Member], contents: Contents) -> None:
    """Refuse a zip that holds anything but what it should; nothing was unpacked yet.

    The names and sizes are as whoever answered wrote them: a path may lead out of the folder,
    a small zip may unpack to more than the disk holds.

    Raises:
        BadArchive: With the first fault.
    """
    for member in members:
        if fault := _fault_of(member, contents):
            raise BadArchive(f"its file {member.name!r:.120} {fault}")
    twins = Counter(member.name.casefold() for member in members)
    if twin := next((name for name, count in twins.items() if count > 1), None):
        raise BadArchive(f"it has {twin!r:.120} more than once")
    if len(members) != contents.files:
        raise BadArchive(
            f"it holds {len(members):,} files {contents.folder}/*{contents.suffix}, "
            f"not {contents.files:,}"
        )
    total = sum(member.size for member in members)
    if total > contents.most_bytes:
        raise BadArchive(f"it would unpack to {total:,} bytes; about {contents.bytes:,} are known")


def _fault_of(member: Member, contents: Contents) -> str | None:
    info = member.info
    folder, _, name = member.name.partition("/")
    mode = info.external_attr >> 16
    faults = {
        "has a name that no file may have": problem_of_path(member.name) is not None,
        f"is not directly in the folder {contents.folder}": (
            folder != contents.folder or not name or "/" in name or "\\" in name
        ),
        f"is no {contents.suffix} file": not member.name.endswith(contents.suffix),
        "is a link or a device": bool(stat.S_IFMT(mode)) and not stat.S_ISREG(mode),
        "is encrypted": bool(info.flag_bits & _IS_ENCRYPTED),
        "is packed in an unusual way": info.compress_type not in _METHODS,
        "lies outside of the zip": not 0 <= member.start < member.end,
    }
    return next((fault for fault, is_there in faults.items() if is_there), None)


def unpack(
    partial: Partial, archive: zipfile.ZipFile, members: Sequence[Member], root: Path
) -> list[Entry]:
    """Unpack the members beside the zip as they arrive, each checked by its CRC.

    A file that an earlier run unpacked, or brought to its place below `root`, is left as it is
    where it has the content that the zip has, by its SHA-256.

    Raises:
        BadArchive: A member stays damaged when it is fetched again.
    """
    partial.files.mkdir(parents=True, exist_ok=True)
    return [_unpack_member(partial, archive, member, root) for member in members]


def staged_path(partial: Partial, name: str) -> Path:
    """Return where a file waits until all are verified."""
    return partial.files / name.rpartition("/")[2]


def _unpack_member(partial: Partial, archive: zipfile.ZipFile, member: Member, root: Path) -> Entry:
    staged, final = staged_path(partial, member.name), root / member.name
    sha256 = None
    if _has_size(staged, member.size) or _has_size(final, member.size):
        sha256 = _insist(partial, archive, member, _hash)
    if sha256 and _has_content(final, member.size, sha256):
        # What waits would take its place.
        staged.unlink(missing_ok=True)
    elif not sha256 or not _has_content(staged, member.size, sha256):
        sha256 = _insist(partial, archive, member, lambda source: _write(source, staged))
    return Entry(path=member.name, size=member.size, sha256=sha256)


def _has_content(path: Path, size: int, sha256: str) -> bool:
    return _has_size(path, size) and sha256_of(path) == sha256


def _has_size(path: Path, size: int) -> bool:
    try:
        return path.stat().st_size == size
    except FileNotFoundError:
        return False


def _hash(source: IO[bytes]) -> str:
    digest = hashlib.sha256()
    while chunk := source.read(CHUNK_BYTES):
        digest.update(chunk)
    return digest.hexdigest()


def _write(source: IO[bytes], path: Path) -> str:
    digest = hashlib.sha256()
    with path.open("wb") as target:
        while chunk := source.read(CHUNK_BYTES):
            digest.update(chunk)
            target.write(chunk)
    return digest.hexdigest()


def check_members(partial: Partial, archive: zipfile.ZipFile) -> None:
    """Read all members of a zip that is not unpacked, and compare their CRCs.

    Raises:
        BadArchive: One stays damaged when it is fetched again.
    """
    for member in members_of(archive):
        _insist(partial, archive, member, _hash)


def _insist(
    partial: Partial, archive: zipfile.ZipFile, member: Member, use: Callable[[IO[bytes]], str]
) -> str:
    for tries in range(1, TRIES + 1):
        try:
            with archive.open(member.info) as source:
                return use(source)
        except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError) as error:
            # Its bytes may be damaged here, by a crash, or there.
            partial.forget(member.start, member.end)
            if tries == TRIES:
                raise BadArchive(f"its file {member.name!r} is damaged ({error})") from error
    raise AssertionError
