"""Finds and ends every process below this one.

mpirun's daemon on a worker leaves its session and its parent, so that a process group is not
enough: this process becomes the one that orphans below it fall to (prctl(2)).
"""

import ctypes
import os
import signal
import subprocess
import time
from typing import AbstractSet, Dict, Iterator, List, NamedTuple, Sequence, Set

_PR_SET_CHILD_SUBREAPER = 36
_PR_SET_PDEATHSIG = 1


class Orphan(NamedTuple):
    """A process that was started further down, and ended here."""

    name: str
    code: int
    """Negative for a signal."""


class _Process(NamedTuple):
    pid: int
    parent: int
    state: str
    name: str


def adopt_orphans() -> None:
    """Become the parent of processes below this one that lose theirs."""
    _prctl(_PR_SET_CHILD_SUBREAPER, 1)


def die_with_parent() -> None:
    """Let the kernel kill this process when its parent ends, however that ends.

    For a child between fork and exec.
    """
    _prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


def _prctl(option: int, value: int) -> None:
    if _libc.prctl(option, value, 0, 0, 0) != 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))


# Loaded here: a child between fork and exec must not load libraries.
_libc = ctypes.CDLL(None, use_errno=True)


def kill_all_below(
    started: Sequence["subprocess.Popen[bytes]"],
    timeout_s: float = 10,
    spared: AbstractSet[int] = frozenset(),
) -> bool:
    """Kill every process below this one and wait until they are gone.

    Args:
        started: Those that were started here: their objects take their exit codes.
        timeout_s: A process that waits for a device or a file server cannot be killed.
        spared: Processes that stay.

    Returns:
        Whether all others are gone.
    """
    deadline = time.monotonic() + timeout_s
    while time.monotonic() < deadline:
        reap_orphans(started)
        running = [pid for pid in _below(os.getpid()) if pid not in spared]
        if not running:
            return True
        for pid in running:
            try:
                os.kill(pid, signal.SIGKILL)
            except OSError:
                continue
        time.sleep(0.02)
    return False


def running_below() -> List[int]:
    """Return the running processes below this one."""
    return _below(os.getpid())


def lineage(pid: int) -> Set[int]:
    """Return a process and those above it, up to this one, which is left out."""
    parents = {process.pid: process.parent for process in _processes()}
    found: Set[int] = set()
    while pid in parents and pid != os.getpid():
        found.add(pid)
        pid = parents[pid]
    return found


def reap_orphans(started: Sequence["subprocess.Popen[bytes]"]) -> List[Orphan]:
    """Take the exit codes of adopted processes that have ended, so that none stays a zombie."""
    own = {process.pid for process in started if process.poll() is None}
    orphans = []
    for process in _processes():
        if process.state == "Z" and process.parent == os.getpid() and process.pid not in own:
            try:
                _, status = os.waitpid(process.pid, os.WNOHANG)
            except OSError:
                continue
            signalled = os.WIFSIGNALED(status)
            code = -os.WTERMSIG(status) if signalled else os.WEXITSTATUS(status)
            orphans.append(Orphan(process.name, code))
    return orphans


def _below(root: int) -> List[int]:
    """Return the running processes below one, zombies left out."""
    children: Dict[int, List[_Process]] = {}
    for process in _processes():
        children.setdefault(process.parent, []).append(process)
    found: List[int] = []
    waiting = [root]
    while waiting:
        for process in children.get(waiting.pop(), []):
            waiting.append(process.pid)
            if process.state not in "ZX":
                found.append(process.pid)
    return found


def _processes() -> Iterator[_Process]:
    for name in os.listdir("/proc"):
        if not name.isdigit():
            continue
        try:
            with open(f"/proc/{name}/stat", "rb") as file:
                text = file.read().decode("ascii", "replace")
        except OSError:
            continue
        # The second field is the command in brackets, which may hold anything.
        command, _, fields = text.rpartition(")")
        state, parent = fields.split()[:2]
        yield _Process(int(name), int(parent), state, command.partition("(")[2])


def exit_text(code: int) -> str:
    """Say how a process ended; negative for a signal, as `subprocess` has it."""
    if code >= 0:
        return f"ended with exit code {code}"
    try:
        name = signal.Signals(-code).name
    except ValueError:
        name = f"signal {-code}"
    why = " (the kernel kills so when memory runs out)" if -code == signal.SIGKILL else ""
    return f"was killed by {name}{why}"
