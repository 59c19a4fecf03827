"""Copy a data set from one side to another: several files at once, verified, resumable.

What is at the target and equal is left as it is, so an interrupted copy goes on where it was.
Nothing is deleted there unless that is asked for. The manifest is written last: where files are as
it says, the copy is complete.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from training.data.bulk import Bulk, NoBulk
from training.data.copier import Copied
from training.data.lock import Tell
from training.data.manifest import Entry, Manifest
from training.data.paths import require_tree
from training.data.progress import SILENT, Progress, format_bytes
from training.data.side import ContentChanged, FileState, Side, expected_digests
from training.data.staging_work import Work
from training.data.threads import thread_pool
from training.errors import PreflightError, UsageError

Files = Mapping[str, FileState]


def _say_nothing(text: str) -> None:
    pass


@dataclass(frozen=True, kw_only=True)
class Manner:
    """How to copy.

    Attributes:
        jobs: Files at a time.
        bulk: Copies many small files at once.
        delete: Whether to delete at the target what the source lacks.
        progress: Told of each byte that is at the target.
        tell: Told what else there is to know while it lasts.
    """

    jobs: int
    bulk: Bulk = field(default_factory=NoBulk)
    delete: bool = False
    progress: Progress = SILENT
    tell: Tell = _say_nothing


@dataclass(frozen=True)
class Staged:
    """What a copy did."""

    manifest: Manifest
    copied_files: int
    copied_bytes: int
    extra_files: int
    """At the target and not at the source; left alone."""
    deleted_files: int = 0
    """At the target and not at the source, where deleting was asked for."""

    @property
    def files(self) -> int:
        return len(self.manifest.files)

    @property
    def total_bytes(self) -> int:
        return sum(entry.size for entry in self.manifest.files)


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


def stage(source: Side, target: Side, files: Files, manner: Manner) -> Staged:
    """Copy files, and leave the manifest beside them.

    Args:
        source: Where they are.
        target: Where they go.
        files: As `list_source` gave them.
        manner: How.

    Raises:
        JobFailed: A file changed, or could not be copied; run again to go on.
    """
    expected = expected_digests(source, files)
    with target.writing(manner.tell) as held:
        there = target.files()
        if held.waited and (finished := _finished_meanwhile(source, target, files, there)):
            return Staged(finished, copied_files=0, copied_bytes=0, extra_files=0)
        _require_space(target, files, there)
        work = Work(
            source=source,
            target=target,
            files=files,
            there=there,
            expected=expected,
            jobs=manner.jobs,
            bulk=manner.bulk,
            progress=held.seeing(manner.progress),
            tell=manner.tell,
        )
        same = work.compare()
        copied = work.copy(same)
        source_now, now = _list_both(source, target, files)
        _require_same_source(source, files, source_now)
        done = same | copied
        _require_written(target, done, files, now)
        extra = now.keys() - files.keys()
        if manner.delete:
            target.remove(extra)
        manifest = Manifest.of(
            Entry(
                path=path,
                size=files[path].size,
                sha256=item.digest.whole,
                etag=target.etag(now[path]) or source.etag(files[path]),
            )
            for path, item in done.items()
        )
        target.write_manifest(manifest)
    return Staged(
        manifest,
        copied_files=len(copied),
        copied_bytes=sum(files[path].size for path in copied),
        extra_files=0 if manner.delete else len(extra),
        deleted_files=len(extra) if manner.delete else 0,
    )


def _finished_meanwhile(source: Side, target: Side, files: Files, there: Files) -> Manifest | None:
    """Return the manifest of the copy that this one has waited for, if that was the same one.

    It is taken at its word, so that nothing is read twice.
    """
    manifest = target.read_manifest()
    entries = manifest.by_path() if manifest else {}
    if not files.keys() == entries.keys() <= there.keys():
        return None
    for path, state in files.items():
        entry = entries[path]
        is_whole = entry.size == state.size == there[path].size
        if not is_whole or entry.etag is None or entry.etag != source.etag(state):
            return None
    return manifest


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


def _list_both(source: Side, target: Side, files: Files) -> tuple[Files, Files]:
    """List both at once: each takes a while, in which the other can be waited for."""
    with thread_pool(1) as pool:
        listing = pool.submit(source.files, files.keys())
        there = target.files(files.keys())
        return listing.result(), there


def _require_same_source(source: Side, files: Files, now: Files) -> None:
    """Compare with a new listing of the source: a change is found wherever it happened."""
    changed = {path for path in files.keys() | now.keys() if files.get(path) != now.get(path)}
    if changed:
        raise ContentChanged(
            f"{source.name}: {_some(changed)} changed, came or went during the copy. "
            "Wait until nothing writes there, run again"
        )


def _require_written(target: Side, done: Mapping[str, Copied], files: Files, now: Files) -> None:
    """Compare with a new listing of the target: all must be as it was written."""
    wrong = {
        path
        for path, item in done.items()
        if path not in now
        or now[path].size != files[path].size
        or item.state not in {None, now[path]}
    }
    if wrong:
        raise ContentChanged(
            f"{target.name}: {_some(wrong)} are not as they were written. "
            "Let nothing else write there, run again"
        )


def _some(paths: set[str]) -> str:
    first = ", ".join(map(repr, sorted(paths)[:3]))
    return f"{first} and {len(paths) - 3:,} more" if len(paths) > 3 else first
