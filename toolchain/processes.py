"""Run commands so that none of them outlives us.

The process becomes the reaper of its descendants (Linux `PR_SET_CHILD_SUBREAPER`): a grandchild
whose parent died, or a daemon that detached itself, is still found below it and can be ended.
"""

from __future__ import annotations

import ctypes
import os
import signal
import subprocess
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from types import FrameType

from toolchain.errors import Interrupted, SetupError

PR_SET_CHILD_SUBREAPER = 36
"""From linux/prctl.h."""

STOP_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
GRACE_S = 10.0
SHOWN_LINES = 12

Text = str | Callable[[], str]

Progress = Callable[[Text], None]
"""Takes what a step is doing just now: one line, or a function that returns it whenever shown."""


@contextmanager
def process_tree() -> Iterator[None]:
    """Turn a request to stop into `Interrupted`, and leave no descendant behind then.

    Descendants are also ended when the body fails. Where it ends well they are left alone: a
    package may have started a service.
    """
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    previous = {number: signal.signal(number, _interrupt) for number in STOP_SIGNALS}
    try:
        yield
    except BaseException:
        for number in STOP_SIGNALS:
            signal.signal(number, signal.SIG_IGN)
        end_descendants()
        raise
    finally:
        for number, handler in previous.items():
            signal.signal(number, handler)


def _interrupt(number: int, _frame: FrameType | None) -> None:
    raise Interrupted(signal.Signals(number).name)


def end_descendants() -> None:
    """End every descendant: SIGTERM, and SIGKILL for those still there after `GRACE_S`."""
    _signal_all(signal.SIGTERM)
    deadline = time.monotonic() + GRACE_S
    while _reap() and time.monotonic() < deadline:
        time.sleep(0.05)
    # A process can fork while it is being listed, hence more than one round.
    for _ in range(100):
        if not _reap():
            return
        _signal_all(signal.SIGKILL)
        time.sleep(0.02)


def _signal_all(number: int) -> None:
    for pid in descendants():
        # A process of another user (sudo) has had the terminal's Ctrl-C itself.
        with suppress(ProcessLookupError, PermissionError):
            os.kill(pid, number)


def _reap() -> bool:
    """Collect the dead and return whether a descendant is still alive."""
    with suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    return bool(descendants())


def descendants() -> list[int]:
    """Return the ids of all processes below this one, parents first."""
    children: dict[int, list[int]] = {}
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            stat = (entry / "stat").read_bytes()
        except OSError:
            continue
        # "pid (name) state ppid ...": the name may hold spaces and brackets.
        parent = int(stat.rpartition(b")")[2].split()[1])
        children.setdefault(parent, []).append(int(entry.name))
    found: list[int] = []
    queue = deque([os.getpid()])
    while queue:
        below = children.get(queue.popleft(), [])
        found.extend(below)
        queue.extend(below)
    return found


def run(
    command: Sequence[str | Path],
    *,
    log: Path,
    progress: Progress,
    advice: str,
    cwd: Path | None = None,
    env: Mapping[str, str] | None = None,
    base_env: Mapping[str, str] = os.environ,
    stdout: Path | None = None,
) -> None:
    """Run a command, keep all that it prints in `log` and pass each line to `progress`.

    Args:
        command: Program and arguments.
        log: Where the output goes, appended.
        progress: Called with each line of output.
        advice: What to do where it fails, for the message.
        cwd: Where it runs.
        env: Variables set on top of `base_env`.
        base_env: The other variables; this process's own by default.
        stdout: File for its standard output, which then goes nowhere else.

    Raises:
        SetupError: It cannot be started or did not exit with 0.
    """
    words = [str(word) for word in command]
    log.parent.mkdir(parents=True, exist_ok=True)
    last: deque[str] = deque(maxlen=SHOWN_LINES)
    with ExitStack() as files:
        sink = files.enter_context(log.open("a", encoding="utf-8"))
        result = files.enter_context(stdout.open("w")) if stdout else None
        sink.write(f"$ {' '.join(words)}\n")
        sink.flush()
        try:
            process = subprocess.Popen(
                words,
                cwd=cwd,
                env={**base_env, **(env or {})},
                stdin=subprocess.DEVNULL,
                stdout=result or subprocess.PIPE,
                stderr=subprocess.PIPE if result else subprocess.STDOUT,
                text=True,
                errors="replace",
            )
        except OSError as error:
            raise SetupError(
                f"{words[0]}: cannot be started ({error.strerror}). {advice}"
            ) from error
        # Not as a context manager: that would wait for the child when we are interrupted.
        lines = process.stderr if result else process.stdout
        assert lines is not None
        for line in lines:
            sink.write(line)
            sink.flush()
            if text := line.strip():
                last.append(text)
                progress(text)
        process.wait()
    if process.returncode:
        shown = "\n".join(f"  | {line}" for line in last)
        raise SetupError(
            f"{Path(words[0]).name} failed (exit code {process.returncode}):\n{shown}\n"
            f"{advice}\nAll of its output: {log}"
        )
