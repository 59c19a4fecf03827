"""Brings the content of files that FSx for Lustre knows by name only, before training asks for it.

`lfs hsm_restore` asks FSx to fetch; it needs root. Reading a file fetches it as well, and works
for everybody. https://docs.aws.amazon.com/fsx/latest/LustreGuide/preload-file-contents-hsm-dra.html
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import time
from collections.abc import Sequence

from training.data.folder import Folder
from training.data.progress import Progress
from training.data.side import FileState
from training.data.threads import thread_pool

BATCH_FILES = 500
"""Asked for at a time: a command line has room for them, and the metadata server for the queue."""

STALLED_S = 900.0
_POLL_S = 1.0

_RELEASED = re.compile(rb": \(0x[0-9a-f]+\)[^\n]*\breleased\b")


def preload(folder: Folder, files: dict[str, FileState], *, jobs: int, progress: Progress) -> None:
    """Return when the content of all files is on the file system.

    Args:
        folder: On a mounted file system.
        files: What is below it.
        jobs: Files at a time, where they are read.
        progress: Told of each byte that is there.

    Raises:
        JobFailed: A file cannot be read.
    """
    left = sorted(files)
    lfs = shutil.which("lfs") if os.geteuid() == 0 else None
    if lfs:
        left = _restore_all(lfs, folder, files, left, progress)

    def read(path: str) -> None:
        for chunk in folder.read(path, files[path]):
            progress.advance(len(chunk))

    with thread_pool(jobs) as pool:
        for _ in pool.map(read, left):
            pass


def _restore_all(
    lfs: str, folder: Folder, files: dict[str, FileState], paths: Sequence[str], progress: Progress
) -> list[str]:
    """Have FSx fetch files, and return those that are left to be read."""
    left: list[str] = []
    for start in range(0, len(paths), BATCH_FILES):
        some = paths[start : start + BATCH_FILES]
        if not _restore(lfs, [str(folder.root / path) for path in some]):
            left += some
            continue
        for path in some:
            progress.advance(files[path].size)
    return left


def _restore(lfs: str, places: list[str]) -> bool:
    """Have FSx fetch files; return False where it does not, so that they have to be read."""
    asked = subprocess.run([lfs, "hsm_restore", *places], capture_output=True, check=False)
    if asked.returncode != 0:
        return False
    count, changed_at = len(places), time.monotonic()
    while time.monotonic() - changed_at < STALLED_S:
        answer = subprocess.run([lfs, "hsm_state", *places], capture_output=True, check=False)
        if answer.returncode != 0:
            return False
        released = len(_RELEASED.findall(answer.stdout))
        if released == 0:
            return True
        if released < count:
            count, changed_at = released, time.monotonic()
        time.sleep(_POLL_S)
    return False
