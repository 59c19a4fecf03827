"""From a folder to S3 with s5cmd.

S3 compares each object with the MD5 and the SHA-256 that s5cmd sends along. This process computes
the SHA-256 for the manifest from a reading of its own, and finds a file that changed between the
two by its time of change.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TYPE_CHECKING

from training.data.bulk import Batch, choose, tasks
from training.data.bulk_plan import Ends
from training.data.copier import Copied, require_expected
from training.data.digest import Digest
from training.data.manifest import Entry, Manifest
from training.data.side import Side
from training.data.threads import thread_pool

if TYPE_CHECKING:
    from training.data.bulk import S5cmdBulk

JOURNAL_EVERY_S = 60.0
JOURNAL_SHARE = 0.05
"""Most of the time that may go into journals: each lists all that is at the target."""

Digests = dict[str, Digest]


def upload(bulk: S5cmdBulk, source: Side, target: Side, batch: Batch) -> dict[str, Copied]:
    """Copy what s5cmd can, and return it; the states are for a listing to tell."""
    assert source.root and target.bucket
    ends = Ends(str(source.root.resolve()), target.name.rstrip("/"), upload=True)
    paths = sorted(choose(batch, ends))
    with thread_pool(batch.jobs) as pool:
        digests = _Digests(source, batch, paths, pool)
        if batch.expected:
            # What is not as its manifest says must not arrive at all.
            digests.wait()
        settled = {path: copied.digest for path, copied in batch.settled.items()}
        journal = _Journal(target, digests, settled)
        arrived: list[str] = []
        for path in bulk.run(target.bucket, ends, batch, paths):
            batch.progress.advance(batch.files[path].size)
            arrived.append(path)
            journal.keep(arrived)
        return {path: Copied(digests.of(path), None) for path in arrived}


class _Digests:
    """SHA-256 of files, computed while they are copied."""

    def __init__(
        self, source: Side, batch: Batch, paths: list[str], pool: ThreadPoolExecutor
    ) -> None:
        self._source, self._batch = source, batch
        self._tasks: list[Future[Digests]] = []
        self._task_of: dict[str, Future[Digests]] = {}
        for some in tasks(paths):
            task = pool.submit(self._compute, some)
            self._tasks.append(task)
            self._task_of.update(dict.fromkeys(some, task))

    def _compute(self, paths: list[str]) -> Digests:
        return dict(self._compute_each(paths))

    def _compute_each(self, paths: list[str]) -> Iterator[tuple[str, Digest]]:
        for path in paths:
            digest = self._source.digest(path, self._batch.files[path])
            expected = self._batch.expected.get(path, Digest())
            require_expected(f"{self._source.name}: {path!r}", digest, expected)
            yield path, digest

    def wait(self) -> None:
        for task in self._tasks:
            task.result()

    def of(self, path: str) -> Digest:
        return self._task_of[path].result()[path]


class _Journal:
    """Writes down now and then what has arrived.

    After a kill it saves the next copy from sending everything again where S3 encrypts with a KMS
    key, since there an ETag tells nothing about the content.
    """

    def __init__(self, target: Side, digests: _Digests, settled: Digests) -> None:
        self._target, self._digests, self._settled = target, digests, settled
        self._next_at = time.monotonic() + JOURNAL_EVERY_S

    def keep(self, arrived: list[str]) -> None:
        began = time.monotonic()
        if began < self._next_at:
            return
        self._target.write_journal(Manifest.of(self._entries(arrived)))
        took = time.monotonic() - began
        self._next_at = time.monotonic() + max(JOURNAL_EVERY_S, took / JOURNAL_SHARE)

    def _entries(self, arrived: list[str]) -> Iterator[Entry]:
        known = self._settled | {path: self._digests.of(path) for path in arrived}
        there = self._target.files(known.keys())
        for path, digest in known.items():
            state = there.get(path)
            if state and digest.sha256:
                yield Entry(path=path, size=state.size, sha256=digest.sha256, etag=state.version)
