"""File operations on EFS, which may be away: each in a child process, with a time limit.

A process that waits for a hard NFS mount waits for as long as the server is away. So what touches
EFS does so in a child, and the parent goes on without it.
"""

from __future__ import annotations

import contextlib
import json
import os
import selectors
import signal
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from .errors import NodeError


class Bounded:
    """Runs one function at a time in a child.

    A child that even SIGKILL does not end (the kernel may not let it go before the server is back)
    is left behind, and nothing new is begun until it has ended: there is never more than one.
    """

    def __init__(self) -> None:
        self._stuck: int | None = None

    def call(self, work: Callable[[], Any], *, timeout_s: float) -> Any:
        """Return what the function returns, which must be JSON.

        Raises:
            NodeError: It took longer, or failed.
        """
        if self._stuck is not None and not _has_ended(self._stuck):
            raise NodeError("the file system does not answer, still")
        self._stuck = None
        reader, writer = os.pipe()
        pid = os.fork()
        if pid == 0:
            _be_child(work, writer)
        os.close(writer)
        try:
            return self._answer(pid, reader, time.monotonic() + timeout_s, timeout_s)
        finally:
            os.close(reader)

    def _answer(self, pid: int, reader: int, deadline: float, timeout_s: float) -> Any:
        content = bytearray()
        # Not select(2), which knows the first 1,024 files only: a conductor has more.
        with selectors.DefaultSelector() as waiting:
            waiting.register(reader, selectors.EVENT_READ)
            while waiting.select(max(0.0, deadline - time.monotonic())):
                part = os.read(reader, 65536)
                if not part:
                    self._end(pid)
                    answer = json.loads(content) if content else {"error": "the child was killed"}
                    if "error" in answer:
                        raise NodeError(answer["error"])
                    return answer["value"]
                content += part
        self._end(pid)
        raise NodeError(f"the file system does not answer (waited for {timeout_s:g} s)")

    def _end(self, pid: int) -> None:
        os.kill(pid, signal.SIGKILL)
        for _ in range(50):
            if _has_ended(pid):
                return
            time.sleep(0.01)
        self._stuck = pid


def _has_ended(pid: int) -> bool:
    try:
        return os.waitpid(pid, os.WNOHANG)[0] == pid
    except ChildProcessError:
        return True


def _close_all_but(writer: int) -> None:
    """Close what the parent has open: a lock, or the way to a host's part, must end with it."""
    for path in list(Path("/proc/self/fd").iterdir()):
        descriptor = int(path.name)
        if descriptor > 2 and descriptor != writer:
            with contextlib.suppress(OSError):
                os.close(descriptor)


def _be_child(work: Callable[[], Any], writer: int) -> None:
    try:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        _close_all_but(writer)
        # Whoever reads the parent's output must not wait for a child that hangs.
        nothing = os.open(os.devnull, os.O_RDWR)
        for descriptor in (0, 1, 2):
            os.dup2(nothing, descriptor)
        try:
            answer = {"value": work()}
        except Exception as error:
            answer = {"error": f"{error}" or type(error).__name__}
        data = json.dumps(answer).encode()
        while data:
            data = data[os.write(writer, data) :]
    finally:
        os._exit(0)
