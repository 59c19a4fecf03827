"""Runs programs that may hang: a sick GPU keeps nvidia-smi, a dead server whatever asks for a file.

A process in the kernel's uninterruptible sleep outlives even SIGKILL, so nobody waits for one that
was killed.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Output:
    """What a program said."""

    code: int | None
    """Its exit status; None where it is not there, or was not done in time."""
    text: str
    error: str
    """The end of its stderr, or why it has no exit status."""
    is_late: bool = False

    @property
    def is_ok(self) -> bool:
        return self.code == 0


def run(arguments: Sequence[str], *, timeout_s: float) -> Output:
    """Run a program without input; return what it said within the time."""
    try:
        process = subprocess.Popen(
            list(arguments),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )
    except OSError as error:
        return Output(None, "", f"{arguments[0]}: {error.strerror}")
    said: list[tuple[bytes, bytes]] = []
    # A daemon: nothing waits for it when the time is over.
    reader = threading.Thread(target=lambda: said.append(process.communicate()), daemon=True)
    reader.start()
    reader.join(timeout_s)
    if not said:
        kill_group(process)
        return Output(None, "", f"{arguments[0]}: not done within {timeout_s:g} s", is_late=True)
    text, error_text = (part.decode("utf-8", "replace") for part in said[0])
    return Output(process.returncode, text, error_text.strip()[-300:])


def kill_group(process: subprocess.Popen[Any]) -> None:
    """Kill a process that leads a session, and all that it started; wait for none of them."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
