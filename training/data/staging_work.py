"""The two passes of a copy over all files: what is there already, and what is to be copied."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Mapping
from concurrent.futures import FIRST_EXCEPTION, Future, wait
from dataclasses import dataclass

from training.data.bulk import Batch, Bulk
from training.data.compare import learn, see
from training.data.copier import Copied, Copier
from training.data.digest import Digest
from training.data.lock import Tell
from training.data.progress import Progress
from training.data.side import FileState, Side
from training.data.threads import thread_pool

Files = Mapping[str, FileState]


@dataclass(frozen=True, kw_only=True)
class Work:
    """One copy.

    Attributes:
        source: Where the files are.
        target: Where they go.
        files: What the source has.
        there: What the target has.
        expected: What the source's manifest says.
        jobs: Files at a time.
        bulk: Copies many small files at once.
        progress: Told of each byte that is at the target.
        tell: Told what else there is to know.
    """

    source: Side
    target: Side
    files: Files
    there: Files
    expected: Mapping[str, Digest]
    jobs: int
    bulk: Bulk
    progress: Progress
    tell: Tell

    def compare(self) -> dict[str, Copied]:
        """Return what is at the target already, with the same content."""
        paths = [
            path
            for path, state in sorted(self.files.items())
            if path in self.there and self.there[path].size == state.size
        ]
        with thread_pool(self.jobs) as pool:
            digests = zip(paths, pool.map(self._digest_if_same, paths), strict=True)
            return {path: Copied(digest, self.there[path]) for path, digest in digests if digest}

    def _digest_if_same(self, path: str) -> Digest | None:
        at_source, at_target = learn(
            see(self.source, path, self.files[path], self.expected.get(path)),
            see(self.target, path, self.there[path]),
        )
        whole = at_source.sha256 or at_target.sha256
        if not (whole and at_source.agrees(at_target)):
            return None
        self.progress.advance(self.files[path].size)
        return Digest(sha256=whole)

    def copy(self, same: Mapping[str, Copied]) -> dict[str, Copied]:
        """Copy the rest: what can go at once, then what is left, one by one."""
        wanted = self.files.keys() - same.keys()
        batch = Batch(
            files=self.files,
            wanted=wanted,
            expected=self.expected,
            settled=same,
            jobs=self.jobs,
            progress=self.progress,
            tell=self.tell,
        )
        at_once = self.bulk.copy(self.source, self.target, batch) if wanted else {}
        return at_once | self._copy_each(sorted(wanted - at_once.keys()))

    def _copy_each(self, paths: list[str]) -> dict[str, Copied]:
        """Copy one by one; the first failure ends it, and files in progress are left."""
        stop = threading.Event()

        def copy(path: str) -> Copied:
            state = self.files[path]
            copier = Copier(self.source, self.target, path, state, stop, self.progress)
            return copier.copy(self.expected.get(path, Digest()))

        with thread_pool(self.jobs) as pool:
            futures = {path: pool.submit(copy, path) for path in paths}
            try:
                wait(futures.values(), return_when=FIRST_EXCEPTION)
                _raise_first(futures.values())
            finally:
                stop.set()
            return {path: future.result() for path, future in futures.items()}


def _raise_first(futures: Iterable[Future[Copied]]) -> None:
    for future in futures:
        if future.done() and (error := future.exception()):
            raise error
