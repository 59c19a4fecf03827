"""Ends what is left of rounds before: a conductor that was killed takes nothing with it.

Every process of a round has its mark in its environment, whatever started it, and whether it is in
a container or not: the kernel shows root all of them.
"""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path

_NAME = b"MASK_RCNN_MARK="


def end_orphans(address: str, *, but: str, grace_s: float = 40) -> list[str]:
    """End the processes of other rounds on this host, saving what they can; return their marks.

    Args:
        address: This host's: on one machine there may be several, in tests.
        but: The mark of the round that is about to start.
        grace_s: Time to write a checkpoint.
    """
    found = _marked(address, but)
    marks = sorted(set(found.values()))
    # Only the first of each tree: the entry point knows whom to tell what.
    for pid in found:
        if _parent(pid) not in found:
            _signal(pid, signal.SIGTERM)
    deadline = time.monotonic() + grace_s
    while found and time.monotonic() < deadline:
        time.sleep(0.2)
        found = _marked(address, but)
    while found and time.monotonic() < deadline + 20:
        for pid in found:
            _signal(pid, signal.SIGKILL)
        time.sleep(0.2)
        found = _marked(address, but)
    return marks


def kill_marked(mark: str) -> None:
    """Kill what one round has left on this host."""
    address = mark.rpartition("/")[2]
    for _ in range(50):
        left = [pid for pid, of_process in _marked(address, "").items() if of_process == mark]
        if not left:
            return
        for pid in left:
            _signal(pid, signal.SIGKILL)
        time.sleep(0.1)


def _marked(address: str, but: str) -> dict[int, str]:
    """Return the marks of a host's processes by their ids, zombies left out."""
    found = {}
    for folder in Path("/proc").iterdir():
        if not folder.name.isdigit() or int(folder.name) == os.getpid():
            continue
        try:
            environment = (folder / "environ").read_bytes()
        except OSError:
            continue
        for variable in environment.split(b"\0"):
            if variable.startswith(_NAME):
                mark = variable[len(_NAME) :].decode("utf-8", "replace")
                if mark != but and mark.endswith(f"/{address}"):
                    found[int(folder.name)] = mark
    return found


def _parent(pid: int) -> int:
    try:
        text = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return 0
    return int(text.rpartition(")")[2].split()[1])


def _signal(pid: int, number: int) -> None:
    try:
        os.kill(pid, number)
    except OSError:
        return
