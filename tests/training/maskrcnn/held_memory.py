"""What a process and its descendants hold in memory."""

from __future__ import annotations

from pathlib import Path

import psutil

KIB = 1024
OWN = ("Pss_Anon:", "Pss_Shmem:")
"""A page that several of them share is counted once, as parts of it. Libraries are left out: their
part depends on what else runs on the machine."""


def held_by(pid: int) -> int:
    """Return bytes.

    Raises:
        psutil.NoSuchProcess, FileNotFoundError, ProcessLookupError: One of them is gone.
    """
    own = psutil.Process(pid)
    return sum(_held(process.pid) for process in (own, *own.children(recursive=True)))


def _held(pid: int) -> int:
    lines = map(str.split, Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()[1:])
    return sum(int(value) * KIB for name, value, _ in lines if name in OWN)
