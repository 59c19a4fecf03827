"""One conductor a job: a lock on this machine, a lease in the run folder against other heads."""

from __future__ import annotations

import fcntl
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from node import json_file

from . import places
from .places import RunFolder
from .state import read_object

STALE_S = 30
"""A lease of another machine that has not changed for so long is nobody's any more."""
RENEW_S = 5


class LeaseLost(Exception):
    """Another head conducts the job now: nothing of it may be touched here."""


def boot_id() -> str:
    return Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()


class Lease:
    """Held until `release`, or until this process or its machine is gone."""

    def __init__(self, run: RunFolder, name: str, instance_id: str) -> None:
        self._run = run
        self._name = name
        self._holder = {
            "instance_id": instance_id,
            "boot_id": boot_id(),
            "pid": os.getpid(),
        }
        self._lock: int | None = None
        self._renewed_at = float("-inf")
        self._count = 0

    def take(
        self, *, stale_s: float = STALE_S, pause: Callable[[float], None] = time.sleep
    ) -> bool:
        """Wait until no other head holds it; False where another process here does.

        By how long it stays the same, not by its time: clocks differ.
        """
        places.RUN.mkdir(parents=True, exist_ok=True)
        path = places.RUN / f"job-{self._name}.lock"
        lock = os.open(path, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            os.close(lock)
            return False
        self._lock = lock
        seen, since = read_object(self._run.lease), time.monotonic()
        while self._is_foreign(seen) and time.monotonic() - since < stale_s:
            pause(1)
            latest = read_object(self._run.lease)
            if latest != seen:
                seen, since = latest, time.monotonic()
        self._write()
        return True

    def renew(self) -> None:
        """Say that this conductor lives.

        Raises:
            LeaseLost: Another head has taken the lease.
        """
        if time.monotonic() - self._renewed_at < RENEW_S:
            return
        found = read_object(self._run.lease)
        if found and {**self._holder, "pid": None} != {**_holder(found), "pid": None}:
            raise LeaseLost(f"{found.get('instance_id')} conducts job {self._name} now")
        self._write()

    def release(self) -> None:
        if self._lock is not None:
            self._run.lease.unlink(missing_ok=True)
            os.close(self._lock)
            self._lock = None

    def _is_foreign(self, found: dict[str, Any]) -> bool:
        return bool(found) and found.get("instance_id") != self._holder["instance_id"]

    def _write(self) -> None:
        self._count += 1
        self._renewed_at = time.monotonic()
        json_file.write(self._run.lease, {**self._holder, "count": self._count})


def _holder(found: dict[str, Any]) -> dict[str, Any]:
    return {name: found.get(name) for name in ("instance_id", "boot_id", "pid")}
