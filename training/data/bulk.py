"""Copies many small files at once with s5cmd, and checks each: between a folder and S3.

What s5cmd could not copy is left out of the answer, for the copier that takes files one by one:
it either can, or says precisely why not.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Protocol

from training.data import bulk_plan
from training.data.bulk_plan import Ends
from training.data.copier import Copied
from training.data.digest import Digest
from training.data.lock import Tell
from training.data.progress import Progress
from training.data.s5cmd import Arrived, S5cmd
from training.data.side import FileState, Side

WORKERS_PER_JOB = 16
"""A small file is mostly waiting for S3; with the default of 8 jobs half of s5cmd's own default."""

FILES_A_TASK = 32
"""That a thread reads in one go: to hand over each alone takes longer than to read a small one."""

Files = Mapping[str, FileState]


@dataclass(frozen=True)
class Batch:
    """What is to be copied.

    Attributes:
        files: All files of the source.
        wanted: The paths to copy.
        expected: What the source's manifest says.
        settled: What is at the target already.
        jobs: Files at a time that this process reads.
        progress: Told of each byte that has arrived.
        tell: Told of what went wrong and is tried in another way.
    """

    files: Files
    wanted: set[str]
    expected: Mapping[str, Digest]
    settled: Mapping[str, Copied]
    jobs: int
    progress: Progress
    tell: Tell


class Bulk(Protocol):
    """Copies what it can of a batch."""

    def copy(self, source: Side, target: Side, batch: Batch) -> dict[str, Copied]: ...


class NoBulk:
    """Copies nothing: all goes one by one."""

    def copy(self, source: Side, target: Side, batch: Batch) -> dict[str, Copied]:  # noqa: ARG002
        return {}


@dataclass(frozen=True)
class S5cmdBulk:
    """Copies small files with s5cmd where one side is a folder and the other in S3."""

    program: S5cmd

    def copy(self, source: Side, target: Side, batch: Batch) -> dict[str, Copied]:
        from training.data.bulk_download import download
        from training.data.bulk_upload import upload

        if source.root and target.bucket:
            return upload(self, source, target, batch)
        if source.bucket and target.root:
            return download(self, source, target, batch)
        return {}

    def run(self, bucket: str, ends: Ends, batch: Batch, paths: Iterable[str]) -> Iterator[str]:
        """Copy files and yield each path when it has arrived.

        As long as it gets on, what failed is tried again: credentials may have expired.
        """
        left = set(paths)
        by_destination = {ends.destination(path): path for path in left}
        while left:
            before, errors = len(left), []
            for event in self.program.run(
                bulk_plan.commands(left, batch.files, ends),
                bucket=bucket,
                workers=batch.jobs * WORKERS_PER_JOB,
            ):
                if not isinstance(event, Arrived):
                    errors.append(event.error)
                elif (path := by_destination.get(event.destination)) in left:
                    left.remove(path)
                    yield path
            if left:
                batch.tell(
                    f"s5cmd left out {len(left):,} files, which are tried again"
                    + "".join(f": {error}" for error in errors[:1])
                )
            if len(left) == before:
                return


def choose(batch: Batch, ends: Ends) -> set[str]:
    """Return which of the files go with s5cmd."""
    return bulk_plan.choose({path: batch.files[path] for path in batch.wanted}, ends)


def tasks(paths: Iterable[str]) -> Iterator[list[str]]:
    """Yield paths in lots of `FILES_A_TASK`, each as soon as it is full; the last may be less."""
    left = iter(paths)
    while some := list(islice(left, FILES_A_TASK)):
        yield some
