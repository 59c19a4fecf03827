"""Copy a data set from one side to another: several files at once, verified, resumable.

What is at the target and equal is left as it is, so an interrupted copy goes on where it was.
Nothing is deleted there. The manifest is written last: where files are as it says, the copy is
complete.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping
from concurrent.futures import FIRST_EXCEPTION, Future, wait
from contextlib import closing
from dataclasses import dataclass

from training.data.digest import Digest, Digester
from training.data.manifest import Entry, Manifest
from training.data.paths import require_tree
from training.data.progress import Progress, format_bytes
from training.data.side import ContentChanged, FileState, Side, expected_digests
from training.data.threads import thread_pool
from training.errors import JobFailed, PreflightError, UsageError

Files = Mapping[str, FileState]


@dataclass(frozen=True)
class Staged:
    """What a copy did."""

    manifest: Manifest
    copied_files: int
    copied_bytes: int
    extra_files: int
    """At the target and not at the source; left alone."""

    @property
    def files(self) -> int:
        return len(self.manifest.files)

    @property
    def total_bytes(self) -> int:
        return sum(entry.size for entry in self.manifest.files)


@dataclass(frozen=True)
class _Done:
    """One file that is at the target."""

    entry: Entry
    state: FileState
    was_copied: bool


def list_source(source: Side) -> dict[str, FileState]:
    """List what is to be copied.

    Raises:
        UsageError: There is nothing, or something that no folder can hold.
    """
    files = source.files()
    if not files:
        raise UsageError(f"{source.name}: there are no files to copy")
    require_tree(set(files), source.name)
    return files


def stage(source: Side, target: Side, files: Files, *, jobs: int, progress: Progress) -> Staged:
    """Copy files, and leave the manifest beside them.

    Args:
        source: Where they are.
        target: Where they go.
        files: As `list_source` gave them.
        jobs: Files at a time.
        progress: Told of each byte that is at the target.

    Raises:
        JobFailed: A file changed, or could not be copied; run again to go on.
    """
    expected = expected_digests(source, files)
    with target.writing():
        there = target.files()
        _require_space(target, files, there)
        done = _copy_all(
            source,
            target,
            files=files,
            there=there,
            expected=expected,
            jobs=jobs,
            progress=progress,
        )
        _require_same_source(source, files)
        _require_written(target, done)
        manifest = Manifest.of(item.entry for item in done)
        target.write_manifest(manifest)
    copied = [item.entry.size for item in done if item.was_copied]
    return Staged(manifest, len(copied), sum(copied), len(there.keys() - files.keys()))


def _require_space(target: Side, files: Files, there: Files) -> None:
    free = target.free_bytes()
    need = sum(
        state.size
        for path, state in files.items()
        if path not in there or there[path].size != state.size
    )
    if free is not None and need > free:
        raise PreflightError(
            f"{target.name}: {format_bytes(need)} are to be copied and {format_bytes(free)} are "
            "free. Make room, or stage elsewhere; nothing was copied"
        )


def _copy_all(
    source: Side,
    target: Side,
    *,
    files: Files,
    there: Files,
    expected: Mapping[str, Digest],
    jobs: int,
    progress: Progress,
) -> list[_Done]:
    """Copy what is not there yet; the first failure ends it, and files in progress are left."""
    stop = threading.Event()

    def copy(path: str) -> _Done:
        copier = _Copier(source, target, path, files[path], stop, progress)
        return copier.run(there.get(path), expected.get(path, Digest()))

    with thread_pool(jobs) as pool:
        futures = [pool.submit(copy, path) for path in sorted(files)]
        try:
            wait(futures, return_when=FIRST_EXCEPTION)
            _raise_first(futures)
        finally:
            stop.set()
        return [future.result() for future in futures]


def _raise_first(futures: list[Future[_Done]]) -> None:
    for future in futures:
        if future.done() and (error := future.exception()):
            raise error


@dataclass(frozen=True)
class _Copier:
    """Copies one file."""

    source: Side
    target: Side
    path: str
    state: FileState
    stop: threading.Event
    progress: Progress

    def run(self, there: FileState | None, expected: Digest) -> _Done:
        """Copy the file unless it is `there` already with the same content."""
        if there and there.size == self.state.size:
            digest = self._digest_if_equal(there, expected)
            if digest:
                self.progress.advance(self.state.size)
                return _Done(self._entry(digest, there), there, was_copied=False)
        return self._copy(expected)

    def _digest_if_equal(self, there: FileState, expected: Digest) -> Digest | None:
        """Return the file's digest if the target holds the same content."""
        at_target = self.target.digest(self.path, there)
        at_source = expected
        if at_source.agrees(at_target) is None:
            at_source = self.source.digest(self.path, self.state)
        if not at_source.agrees(at_target):
            return None
        whole = at_source.sha256 or at_target.sha256
        return Digest(sha256=whole) if whole else None

    def _copy(self, expected: Digest) -> _Done:
        size = self.state.size
        digester = Digester(size)
        with closing(self.target.writer(self.path, size, self.state.version)) as writer:
            # Without a checksum to compare with, nobody could tell what a crash of the host left.
            offset = writer.begin(digester, resume=expected.sha256 is not None)
            self.progress.advance(offset)
            for chunk in self._read(self.source, self.state, offset):
                digester.update(chunk)
                writer.write(chunk)
                self.progress.advance(len(chunk))
            digest = digester.digest()
            try:
                self._require_right(digester.seen_bytes, digest, expected, offset)
            except JobFailed:
                writer.discard()
                raise
            state = writer.commit()
        return _Done(self._entry(digest, state), state, was_copied=True)

    def _require_right(
        self, seen_bytes: int, digest: Digest, expected: Digest, resumed_bytes: int
    ) -> None:
        name = f"{self.source.name}: {self.path!r}"
        self.source.require_unchanged(self.path, self.state)
        if seen_bytes != self.state.size:
            raise ContentChanged(
                f"{name} gave {seen_bytes:,} bytes, not {self.state.size:,}. Run again"
            )
        if expected.agrees(digest) is not False:
            return
        if resumed_bytes:
            raise JobFailed(f"{name}: what an interrupted copy had left is damaged. Run again")
        raise JobFailed(
            f"{name} has SHA-256 {digest.sha256}, its manifest says {expected.sha256}. "
            "Stage the data there again from its source"
        )

    def _read(self, side: Side, state: FileState, offset: int = 0) -> Iterator[bytes]:
        for chunk in side.read(self.path, state, offset):
            if self.stop.is_set():
                raise JobFailed(f"{self.path!r}: stopped, since another file failed")
            yield chunk

    def _entry(self, digest: Digest, at_target: FileState) -> Entry:
        assert digest.sha256
        etag = self.target.etag(at_target) or self.source.etag(self.state)
        return Entry(path=self.path, size=self.state.size, sha256=digest.sha256, etag=etag)


def _require_same_source(source: Side, files: Files) -> None:
    """List the source once more, so that a change is found wherever it happened."""
    now = source.files()
    changed = {path for path in files.keys() | now.keys() if files.get(path) != now.get(path)}
    if changed:
        raise ContentChanged(
            f"{source.name}: {_some(changed)} changed, came or went during the copy. "
            "Wait until nothing writes there, run again"
        )


def _require_written(target: Side, done: list[_Done]) -> None:
    """List the target once more: all must be as it was written."""
    now = target.files()
    wrong = {item.entry.path for item in done if now.get(item.entry.path) != item.state}
    if wrong:
        raise ContentChanged(
            f"{target.name}: {_some(wrong)} are not as they were written. "
            "Let nothing else write there, run again"
        )


def _some(paths: set[str]) -> str:
    first = ", ".join(map(repr, sorted(paths)[:3]))
    return f"{first} and {len(paths) - 3:,} more" if len(paths) > 3 else first
