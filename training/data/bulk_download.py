"""From S3 to a folder with s5cmd: aside first, checked, on the disk, then each under its name."""

from __future__ import annotations

import os
import shutil
import stat
from collections.abc import Collection, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from training.data.bulk import Batch, choose, tasks
from training.data.bulk_plan import Ends, whole_folders
from training.data.compare import learn, see
from training.data.copier import Copied
from training.data.digest import Digest
from training.data.flushing import flushed
from training.data.folder import Folder
from training.data.side import PARTIAL, FileState, Side
from training.data.threads import thread_pool

if TYPE_CHECKING:
    from training.data.bulk import S5cmdBulk

ASIDE = f"{PARTIAL}/s5cmd"
"""Files below it have the path that they will have below the data set."""

Whole = dict[str, Copied]
"""What is right, with the state that it has aside and keeps under its name."""


def download(bulk: S5cmdBulk, source: Side, target: Side, batch: Batch) -> dict[str, Copied]:
    """Copy what s5cmd can, and return it.

    What an interrupted copy left aside is taken if its checksum is right.
    """
    assert isinstance(target, Folder) and source.bucket
    aside = _Aside(Folder(target.root / ASIDE), source, batch)
    ends = Ends(str(aside.folder.root.resolve()), source.name.rstrip("/"), upload=False)
    wanted = choose(batch, ends)
    with thread_pool(batch.jobs) as pool:
        whole = aside.sift(wanted, pool)
        arriving = aside.count(bulk.run(source.bucket, ends, batch, wanted - whole.keys()))
        with flushed(aside.folder):
            checks = [pool.submit(aside.check, some) for some in tasks(arriving)]
            for check in checks:
                whole |= check.result()
        _move(aside.folder, target, whole, pool)
        return whole


@dataclass(frozen=True)
class _Aside:
    """What has been downloaded and has no name yet."""

    folder: Folder
    source: Side
    batch: Batch

    def count(self, arriving: Iterable[str]) -> Iterator[str]:
        """Tell of each file as it comes."""
        for path in arriving:
            self.batch.progress.advance(self.batch.files[path].size)
            yield path

    def sift(self, wanted: set[str], pool: ThreadPoolExecutor) -> Whole:
        """Keep of what is there from an earlier copy what is proven right; remove the rest."""
        if _holds_links(self.folder.root):
            # s5cmd makes none; what was written through one would lie elsewhere.
            shutil.rmtree(self.folder.root, ignore_errors=True)
        if not self.folder.root.is_dir():
            return {}
        there = self.folder.files()
        fitting = {
            path
            for path, state in there.items()
            if path in wanted and state.size == self.batch.files[path].size
        }
        whole: Whole = {}
        for found in pool.map(lambda path: self._prove(path, there[path]), sorted(fitting)):
            whole |= found
        self.folder.remove(there.keys() - whole.keys())
        _remove_empty(self.folder.root)
        for path in whole:
            self.batch.progress.advance(there[path].size)
        return whole

    def _prove(self, path: str, state: FileState) -> Whole:
        digest, agrees = self._compare(path, state)
        return {path: Copied(digest, state)} if agrees else {}

    def check(self, paths: list[str]) -> Whole:
        """Return which files are right of those that s5cmd has just downloaded; remove the others.

        Without a checksum to compare with, as with objects that another program uploaded to a
        bucket with a KMS key, the length is what can be compared.
        """
        whole: Whole = {}
        for path in paths:
            state = self.folder.state(path)
            digest, agrees = self._compare(path, state)
            if state.size == self.batch.files[path].size and agrees is not False:
                whole[path] = Copied(digest, state)
        self.folder.remove([path for path in paths if path not in whole])
        return whole

    def _compare(self, path: str, state: FileState) -> tuple[Digest, bool | None]:
        at_source = see(self.source, path, self.batch.files[path], self.batch.expected.get(path))
        here, there = learn(see(self.folder, path, state), at_source)
        return here, here.agrees(there)


def _holds_links(folder: Path) -> bool:
    """Return whether anything below a folder is neither a file nor a folder."""
    for place, folders, files in os.walk(folder):
        for name in (*folders, *files):
            mode = os.lstat(os.path.join(place, name)).st_mode  # noqa: PTH118
            if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode)):
                return True
    return False


def _remove_empty(folder: Path) -> None:
    """Remove folders without files: the copy would have them too, where their folder is moved."""
    for place, _, _ in os.walk(folder, topdown=False):
        with suppress(OSError):  # It holds something.
            os.rmdir(place)  # noqa: PTH106


def _move(aside: Folder, target: Folder, paths: Collection[str], pool: ThreadPoolExecutor) -> None:
    """Give files their names, once all are on the disk; whole folders in one step where it can."""

    def adopt(some: list[str]) -> None:
        for path in some:
            target.adopt(aside, path)

    if not paths:
        return
    aside.sync()
    moved = tuple(
        f"{folder}/"
        for folder, files in whole_folders(paths, paths).items()
        if target.adopt_folder(aside, folder, files)
    )
    left = sorted(path for path in paths if not path.startswith(moved))
    for _ in pool.map(adopt, tasks(left)):
        pass  # Raises what went wrong.
