"""Download items: fetched, verified, unpacked beside their place, and only then brought there."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Protocol

from training.data.download.archive import (
    BadArchive,
    check_members,
    judge,
    members_of,
    open_archive,
    staged_path,
    unpack,
)
from training.data.download.catalogue import Item
from training.data.download.disk import disk_errors, exclusive
from training.data.download.fetch import fetching, find_source
from training.data.download.partial import Grain, Partial
from training.data.download.patience import Patience
from training.data.download.plan import ItemPlan, Task, folder_of, plan_items
from training.data.download.publish import publish, record, require_places
from training.data.download.running_hash import RunningHash
from training.data.download.space import free_at, require_space
from training.data.download.there import wrong_files
from training.data.download.web import Changed, NoRanges, Unusable, Web
from training.data.lock import Hold
from training.data.manifest import Entry
from training.data.progress import Progress
from training.errors import JobFailed

ZIP_SUFFIXES = (".zip", ".npz")
"""Of files with a CRC for each of their members; an .npz of NumPy is a zip."""


class Reporter(Protocol):
    """Who is told how it goes."""

    def progress(self, title: str, total_bytes: int) -> AbstractContextManager[Progress]: ...

    def note(self, text: str) -> None: ...


@dataclass(frozen=True)
class Settings:
    """How to download."""

    root: Path
    mirrors: tuple[str, ...] = ()
    connections: int = 8
    patience: Patience = field(default_factory=Patience)
    grain: Grain = field(default_factory=Grain)


@dataclass(frozen=True)
class Done:
    """One item that is there and verified."""

    item: Item
    task: Task
    files: int
    total_bytes: int
    """Of the files as they lie in the data set."""
    fetched_bytes: int
    """That came over the network in this run."""
    seconds: float
    address: str | None
    """Where they came from; None where nothing was fetched."""
    sha256: str | None
    """Of the downloaded file, where all of it was fetched."""
    verified: tuple[str, ...]


def download(items: Sequence[Item], settings: Settings, reporter: Reporter) -> list[Done]:
    """Make items complete, each in its place below the root.

    What is there and right is left as it is. A download that was stopped goes on.

    Raises:
        UsageError: The place cannot be used, or another download is running there.
        PreflightError: There is too little space.
        JobFailed: No address gave the file.
    """
    root = settings.root
    require_places(root, [item.path.partition("/")[0] for item in items])
    with exclusive(root) as hold, disk_errors(root):
        plans = plan_items(
            root, items, lambda item, entries: _check(item, entries, settings, reporter)
        )
        require_space(root, [plan.room for plan in plans], free_at(root))
        return [_complete(plan, settings, reporter, hold) for plan in plans]


def _check(
    item: Item, entries: Sequence[Entry], settings: Settings, reporter: Reporter
) -> Sequence[Entry]:
    total = sum(entry.size for entry in entries)
    with reporter.progress(f"Checking {item.key}", total) as progress:
        wrong = wrong_files(settings.root, entries, jobs=settings.connections, progress=progress)
    if wrong:
        some = ", ".join(repr(entry.path) for entry in wrong[:3])
        more = f" and {len(wrong) - 3:,} more" if len(wrong) > 3 else ""
        reporter.note(
            f"{item.key}: {len(wrong):,} of {len(entries):,} files are missing or damaged, and are "
            f"fetched again: {some}{more}"
        )
    return wrong


def _complete(plan: ItemPlan, settings: Settings, reporter: Reporter, hold: Hold) -> Done:
    folder = folder_of(settings.root, plan.item)
    if plan.task is Task.NOTHING:
        # A run that was killed after its last file was in place leaves it.
        Partial(folder).discard()
        total = sum(entry.size for entry in plan.entries)
        verified = ("size", "sha256 of each file")
        return Done(plan.item, plan.task, len(plan.entries), total, 0, 0.0, None, None, verified)
    began = time.monotonic()
    with reporter.progress(f"Downloading {plan.item.key}", plan.goal_bytes) as progress:
        partial = Partial(folder, hold.seeing(progress), settings.grain)
        done = _Download(plan, settings, partial, reporter.note).run()
    seconds = time.monotonic() - began
    return replace(done, seconds=seconds, fetched_bytes=partial.fetched_bytes)


class _Download:
    """The download of one item."""

    def __init__(
        self,
        plan: ItemPlan,
        settings: Settings,
        partial: Partial,
        note: Callable[[str], None],
    ) -> None:
        self._plan = plan
        self._item = plan.item
        self._root = settings.root
        self._settings = settings
        self._partial = partial
        self._note = note
        self._web = Web(settings.connections, settings.patience)

    def run(self) -> Done:
        """Try one address after the other.

        Raises:
            JobFailed: None gave the file.
        """
        reasons = []
        for address in self._item.from_mirrors(self._settings.mirrors):
            try:
                return self._from(address)
            except Unusable as error:
                reasons.append(f"{address}: {error}")
        raise JobFailed(
            f"{self._item.name} cannot be downloaded. {'; '.join(reasons)}. Run the same command "
            "again later, which goes on with what is there, or name a copy of it with --mirror"
        )

    def _from(self, address: str) -> Done:
        """Take the file from one address; anew where it turns out to be another file there."""
        patience = self._settings.patience
        restarts = 0
        in_parts = True
        while True:
            source = find_source(self._web, address, self._item, patience, self._note)
            source = replace(source, has_ranges=source.has_ranges and in_parts)
            went_on = self._partial.adopt(source.origin(self._item))
            try:
                with fetching(
                    self._partial, source, self._web, patience, self._settings.connections
                ):
                    done = self._use(address)
            except NoRanges:
                in_parts = False
            except Changed:
                self._partial.discard()
                restarts += 1
                if restarts > patience.restarts:
                    raise Unusable(
                        f"its file changed {restarts} times while it was downloaded"
                    ) from None
            except BadArchive as error:
                self._partial.discard()
                # What an earlier run left may have been the fault.
                if not went_on:
                    raise Unusable(str(error)) from error
            else:
                self._partial.discard()
                return done

    def _use(self, address: str) -> Done:
        """Verify what comes, and bring it to its place."""
        sha256: str | None = None
        verified: tuple[str, ...] = ("size", "sha256 of each file")
        if self._plan.task is Task.REPAIR:
            entries = self._take_some()
        else:
            entries, sha256, verified = self._take_all()
        staged = [(self._staged(entry), entry) for entry in entries]
        publish(self._root, staged)
        record(self._root, entries)
        all_ = {entry.path: entry for entry in (*self._plan.entries, *entries)}
        return Done(
            self._item,
            self._plan.task,
            len(all_),
            sum(entry.size for entry in all_.values()),
            0,
            0.0,
            address,
            sha256,
            verified,
        )

    def _staged(self, entry: Entry) -> Path:
        if self._item.contents:
            return staged_path(self._partial, entry.path)
        return self._partial.archive

    def _take_all(self) -> tuple[list[Entry], str, tuple[str, ...]]:
        """Fetch the whole file, while what has come is checked and unpacked."""
        partial = self._partial
        partial.want([(0, partial.size)])
        while True:
            forgotten = partial.forgotten
            hashed = RunningHash(partial)
            entries, verified = self._unpack_all()
            sha256 = hashed.result()
            # Where a part was fetched again, what was made of the bytes before may be wrong.
            if partial.forgotten == forgotten:
                break
        expected = self._plan.expected_sha256
        if expected not in {None, sha256}:
            raise BadArchive(f"its file has SHA-256 {sha256}; {self._item.name} has {expected}")
        last = "sha256" if expected else "sha256 recorded, none was known"
        if not self._item.contents:
            entries = [Entry(path=self._item.path, size=partial.size, sha256=sha256)]
        return entries, sha256, ("size", *verified, last)

    def _unpack_all(self) -> tuple[list[Entry], tuple[str, ...]]:
        """Return what was unpacked, and what was verified by it."""
        if self._item.contents:
            with open_archive(self._partial) as archive:
                members = members_of(archive)
                judge(members, self._item.contents)
                entries = unpack(self._partial, archive, members, self._root)
            return entries, ("number of files", "CRC of each file")
        if self._item.name.endswith(ZIP_SUFFIXES):
            with open_archive(self._partial) as archive:
                check_members(self._partial, archive)
            return [], ("CRC of each member",)
        return [], ()

    def _take_some(self) -> list[Entry]:
        """Fetch the parts of the zip that hold what is missing; the manifest says what is right."""
        assert self._item.contents
        wanted = {entry.path: entry for entry in self._plan.wrong}
        with open_archive(self._partial) as archive:
            members = members_of(archive)
            judge(members, self._item.contents)
            chosen = [member for member in members if member.name in wanted]
            self._partial.want([(member.start, member.end) for member in chosen])
            entries = unpack(self._partial, archive, chosen, self._root)
        for entry in entries:
            if entry != wanted[entry.path].model_copy(update={"etag": None}):
                raise BadArchive(
                    f"its file {entry.path!r} is not the one that was downloaded before"
                )
        if len(entries) != len(wanted):
            raise BadArchive("it does not hold all the files that were downloaded before")
        return entries
