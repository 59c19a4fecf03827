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
from contextlib import suppress

from training.data.folder import Folder
from training.data.progress import Progress
from training.data.side import ContentChanged, FileState
from training.data.threads import thread_pool

BATCH_FILES = 500
"""Asked for at a time: a command line has room for them, and the metadata server for the queue."""

STALLED_S = 900.0
_POLL_S = 1.0
_READINGS = 2

_STATE = re.compile(rb": \(0x[0-9a-f]+\)([^\n]*)")
_RELEASED = re.compile(rb"\breleased\b")


class _Stalled(Exception):
    """FSx fetches nothing of what it was asked for."""


def preload(folder: Folder, files: dict[str, FileState], *, jobs: int, progress: Progress) -> None:
    """Return when the content of all files is on the file system.

    Args:
        folder: On a mounted file system.
        files: What is below it.
        jobs: Files at a time, where they are read.
        progress: Told of each byte that is there.

    Raises:
        JobFailed: A file cannot be read, or is another one than was imported.
    """
    left = sorted(files)
    lfs = shutil.which("lfs") if os.geteuid() == 0 else None
    if lfs:
        left = _restore_all(lfs, folder, files, left, progress)

    def read(path: str) -> None:
        _read(folder, path, files[path].size, progress)

    with thread_pool(jobs) as pool:
        for _ in pool.map(read, left):
            pass


def _read(folder: Folder, path: str, size: int, progress: Progress) -> None:
    """Read a file to its end. That brings its content, and may change what it is listed as."""
    told = 0
    for _ in range(_READINGS):
        state = folder.state(path)
        if state.size != size:
            break
        with suppress(ContentChanged):
            done = 0
            for chunk in folder.read(path, state):
                done += len(chunk)
                progress.advance(max(0, done - told))
                told = max(told, done)
            return
    raise ContentChanged(
        f"{folder.name}: {path!r} changed while it was preloaded. Let nothing write there, run "
        "again"
    )


def _restore_all(
    lfs: str, folder: Folder, files: dict[str, FileState], paths: Sequence[str], progress: Progress
) -> list[str]:
    """Have FSx fetch files, and return those that are left to be read."""
    left: list[str] = []
    for start in range(0, len(paths), BATCH_FILES):
        some = paths[start : start + BATCH_FILES]
        try:
            is_there = _restore(lfs, [str(folder.root / path) for path in some])
        except _Stalled:
            # It would be waited for as long at each of the others.
            return [*left, *paths[start:]]
        if not is_there:
            left += some
            continue
        for path in some:
            progress.advance(files[path].size)
    return left


def _restore(lfs: str, places: list[str]) -> bool:
    """Have FSx fetch files; return False where it does not, so that they have to be read.

    Raises:
        _Stalled: It got none of them for `STALLED_S`.
    """
    if _ask(lfs, "hsm_restore", places) is None:
        return False
    count, changed_at = len(places), time.monotonic()
    while time.monotonic() - changed_at < STALLED_S:
        states = _STATE.findall(_ask(lfs, "hsm_state", places) or b"")
        if len(states) != len(places):
            return False  # Of some of them nothing is known.
        released = sum(1 for state in states if _RELEASED.search(state))
        if released == 0:
            return True
        if released < count:
            count, changed_at = released, time.monotonic()
        time.sleep(_POLL_S)
    raise _Stalled


def _ask(lfs: str, what: str, places: list[str]) -> bytes | None:
    """Return what lfs says; None where it fails, or cannot be run."""
    try:
        answer = subprocess.run([lfs, what, *places], capture_output=True, check=False)
    except OSError:
        return None
    return answer.stdout if answer.returncode == 0 else None
