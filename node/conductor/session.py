"""One host's part in a round, as the conductor sees it: a `host-run` over the cluster's SSH."""

from __future__ import annotations

import json
import os
import subprocess
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from node import paths

from .host_run import KILL, STOP
from .order import EVENT, Order

SSH_CONFIG = os.environ.get("MASK_RCNN_SSH_CONFIG") or str(paths.SSH / "config")
COMMAND = os.environ.get("MASK_RCNN_COMMAND") or str(paths.COMMAND)
_ALIVE = ("-o", "ServerAliveInterval=5", "-o", "ServerAliveCountMax=3")
"""A host that is gone without a word is given up after 15 s."""
_LAST_LINES = 20
_PATIENCE_S = 150
"""Longer than a host takes to save and to kill (host_run.GRACE_S)."""


@dataclass
class Session:
    """A host's part. Threads of its own read what it says.

    Args:
        order: What runs there.
        is_here: Whether the host is this one: no SSH then.
        on_line: Takes what the container prints, line by line, without line ends.
    """

    order: Order
    is_here: bool
    on_line: Callable[[str], None]
    ready: dict[str, Any] | None = None
    """What `host` says once it serves."""
    code: int | None = None
    """The container's exit code; None while it runs, and where nobody could tell it."""
    failure: str | None = None
    is_started: bool = False
    """Whether the host has what it needs, and its container runs."""
    refusal: str | None = None
    """Why nothing was started there."""
    is_over: bool = False
    ended_at: float = 0
    last_lines: list[str] = field(default_factory=list)
    _abandoned_at: float | None = None

    def start(self) -> Session:
        there = [COMMAND, "host-run"]
        ssh = ["ssh", "-F", SSH_CONFIG, *_ALIVE, self.order.address, *there]
        self._process = subprocess.Popen(
            there if self.is_here else ssh,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            # Ctrl-C and the unit's signals are for the conductor, which tells its hosts.
            start_new_session=True,
        )
        self._send(self.order.to_line())
        threading.Thread(target=self._read, daemon=True).start()
        return self

    @property
    def address(self) -> str:
        return self.order.address

    @property
    def is_lost(self) -> bool:
        """Whether the host went without a word of how its part ended."""
        return self.is_over and self.code is None and self.refusal is None

    @property
    def last_words(self) -> str:
        return self.last_lines[-1] if self.last_lines else "it said nothing"

    def stop(self) -> None:
        """Have the ranks there save and stop."""
        self._send(f"{STOP}\n".encode())

    def kill(self) -> None:
        self._send(f"{KILL}\n".encode())

    def abandon(self) -> None:
        """Let go of the host: its part saves and ends when it sees that nobody is here.

        Called again much later, it waits no longer for the host to say so.
        """
        now = time.monotonic()
        if self._abandoned_at is None:
            self._abandoned_at = now
            with suppress(OSError):
                assert self._process.stdin is not None
                self._process.stdin.close()
        elif now > self._abandoned_at + _PATIENCE_S:
            self._process.kill()

    def _send(self, line: bytes) -> None:
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(line)
            self._process.stdin.flush()
        except (OSError, ValueError):
            # It is gone, which the thread that reads sees, or was let go of.
            return

    def _read(self) -> None:
        assert self._process.stdout is not None
        for data in self._process.stdout:
            line = data.decode("utf-8", "replace").rstrip("\r\n")
            if line.startswith(EVENT):
                self._take(line[len(EVENT) :])
            elif self.order.command == "host" and line.startswith('{"kind": "ready"'):
                self.ready = _object(line)
            else:
                self.last_lines = [*self.last_lines[1 - _LAST_LINES :], line]
                self.on_line(line)
        self._process.wait()
        self.ended_at = time.monotonic()
        self.is_over = True

    def _take(self, text: str) -> None:
        event = _object(text)
        if event.get("kind") == "starting":
            self.is_started = True
        elif event.get("kind") == "ended":
            self.code = int(event["code"])
            self.failure = event.get("failure")
        elif event.get("kind") == "failed":
            self.refusal = str(event.get("reason"))


def _object(text: str) -> dict[str, Any]:
    try:
        document = json.loads(text)
    except ValueError:
        return {}
    return document if isinstance(document, dict) else {}
