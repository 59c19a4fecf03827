"""One side of a copy: a folder or a place in a bucket, seen through the same few methods."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from training.data.digest import Digest, Digester
from training.data.lock import Hold, Tell
from training.data.manifest import Manifest
from training.errors import JobFailed

PARTIAL = ".partial"
"""A folder at the top of a copy in progress; it holds files that are not yet whole."""


class ContentChanged(JobFailed):
    """A file is not what it was when the copy began."""


@dataclass(frozen=True, slots=True)
class FileState:
    """A file as a side lists it.

    Attributes:
        size: Bytes.
        version: Differs when the content may differ: an ETag, or inode and time of change.
    """

    size: int
    version: str


class Writer(Protocol):
    """A file on its way; it appears under its name, whole, when it is committed."""

    def begin(self, digester: Digester, *, resume: bool) -> int:
        """Get ready for the first `write`; called once.

        With `resume`, feed the digester with what an interrupted copy left and return that many
        bytes: writing goes on behind them. Without, or where nothing was left, return 0.
        """

    def write(self, chunk: bytes) -> None: ...

    def commit(self) -> FileState: ...

    def discard(self) -> None:
        """Throw away what was written: it is wrong."""

    def close(self) -> None:
        """Free what is held; what was written and not committed stays, to be resumed."""


class Side(Protocol):
    """Where the files of a copy are. Methods may be called from several threads at once."""

    name: str
    """For messages: a path, or s3://bucket/prefix."""

    @property
    def root(self) -> Path | None:
        """Of a folder."""

    @property
    def bucket(self) -> str | None:
        """Of a place in S3."""

    def files(self, near: Collection[str] = ()) -> dict[str, FileState]:
        """List the data files by path, without the manifest.

        Args:
            near: Paths that are likely there: with them a long listing of a bucket is made in parts
                at once. Without any, those that its manifest has will do.

        Raises:
            UsageError: There is no such place, or it has a file that cannot be copied.
        """

    def read(self, path: str, state: FileState, offset: int = 0) -> Iterator[bytes]:
        """Yield a file's bytes from an offset on.

        Raises:
            ContentChanged: The file is not in that state any more.
        """

    def require_unchanged(self, path: str, state: FileState) -> None:
        """Raise ContentChanged where a file is not in that state any more."""

    def told(self, path: str, state: FileState) -> Digest:
        """Return what is known of a file's content without reading or asking."""

    def digest(self, path: str, state: FileState, *, md5: bool = False) -> Digest:
        """Return what can be told of a file's content: a folder reads it, a bucket asks S3.

        Args:
            path: The file.
            state: As it was listed.
            md5: Whether a folder computes the MD5 too.
        """

    def etag(self, state: FileState) -> str | None: ...

    def writing(self, tell: Tell) -> AbstractContextManager[Hold]:
        """Make the place ready for writing, and keep other copies from writing there.

        Where another copy is running, wait for it, and `tell` so.

        Raises:
            JobFailed: The other copy got nothing done for a long time.
        """

    def free_bytes(self) -> int | None:
        """Return the space that is left, or None where it has no end."""

    def writer(self, path: str, size: int, source_version: str) -> Writer: ...

    def read_manifest(self) -> Manifest | None: ...

    def write_manifest(self, manifest: Manifest) -> None: ...

    def write_journal(self, manifest: Manifest) -> None:
        """Keep what has arrived so far, where it cannot be told from the files themselves.

        It is what `told` knows in the next copy if this one is killed; the manifest ends it.
        """

    def remove(self, paths: Collection[str]) -> None:
        """Delete files.

        Raises:
            JobFailed: One could not be deleted.
        """


def expected_digests(side: Side, files: Mapping[str, FileState]) -> dict[str, Digest]:
    """Return what a side's manifest says of the files; nothing where it has none.

    Raises:
        JobFailed: The manifest names files that are missing or of another size: the copy there is
            not the one that was completed.
    """
    manifest = side.read_manifest()
    if manifest is None:
        return {}
    wrong = [
        entry.path
        for entry in manifest.files
        if entry.path not in files or files[entry.path].size != entry.size
    ]
    if wrong:
        more = f" and {len(wrong) - 3:,} more" if len(wrong) > 3 else ""
        raise JobFailed(
            f"{side.name}: {len(wrong):,} file(s) are missing or of another size than its manifest "
            f"says: {', '.join(map(repr, wrong[:3]))}{more}. Stage the data there again, or remove "
            "the manifest if the change is meant"
        )
    return {entry.path: Digest(sha256=entry.sha256) for entry in manifest.files}
