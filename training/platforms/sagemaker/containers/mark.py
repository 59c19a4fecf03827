"""The mark of one run: on its containers, its network and its folder, to tell whose they are."""

from __future__ import annotations

import hashlib
import os
import re
import secrets
from dataclasses import dataclass
from pathlib import Path

_MARK = re.compile(r"(\d+)-(\d+)-([0-9a-f]{6})-[0-9a-f]{6}")


@dataclass(frozen=True)
class Mark:
    """`<process>-<its start>-<where it runs>-<random>`."""

    text: str

    @property
    def is_dead(self) -> bool:
        """Whether the launcher has ended, as far as it can be told from here.

        A process of another machine or container, which may share the engine with this one, cannot
        be seen, and is taken to be alive.
        """
        match = _MARK.fullmatch(self.text)
        if match is None or match[3] != _here():
            return False
        # Another process may have its number by now.
        return _started(int(match[1])) != int(match[2])


def new_mark() -> Mark:
    """Return a mark for a run of this process."""
    process = os.getpid()
    return Mark(f"{process}-{_started(process)}-{_here()}-{secrets.token_hex(3)}")


def _here() -> str:
    """Return what stands for this machine's processes; the same after it starts again."""
    place = f"{os.uname().nodename} {Path('/proc/self/ns/pid').stat().st_ino}"
    return hashlib.sha256(place.encode()).hexdigest()[:6]


def _started(process: int) -> int | None:
    """Return when a process started, in clock ticks since boot; None where there is none.

    Field 22 of /proc/PID/stat; the second one, a name in parentheses, may hold blanks (proc(5)).
    """
    try:
        text = Path(f"/proc/{process}/stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None
    return int(text.rpartition(")")[2].split()[19])
