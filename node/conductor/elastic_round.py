"""A round whose hosts come and go: Horovod elastic.

Each host but this one serves ranks (the entry point's `host`), with an SSH server whose key is made
when it starts. This one runs horovodrun (`elastic`), which is told of a host once that serves, and
no more once it is gone or about to go.
"""

from __future__ import annotations

import hashlib
import os
import subprocess
import time
from pathlib import Path
from typing import Any

from node.errors import NodeError

from . import places
from .elastic_hosts import ElasticHosts
from .round import FAILED, STOPPED, Result, Setting, all_over, exit_text
from .session import Session

_HARMLESS = (None, 0, STOPPED)
"""Ends of a host's part that are nobody's failure."""
FIRST_S = 120
"""At the start: longest wait for hosts that are not ready while enough others are."""


class ElasticRound:
    def __init__(self, setting: Setting) -> None:
        self._setting = setting
        request = setting.request
        self._least = request.least_workers * request.processes_per_host
        self._folder = places.RUN / "rounds" / request.name
        self._sockets = sockets_of(setting.run.root, setting.number)
        told = {"head_key": _make_key(self._folder), "sockets": self._sockets}
        self._hosts = ElasticHosts(setting, told, self._folder / "hosts.json")
        self._head: Session | None = None
        self._began = time.monotonic()
        self._short_since: float | None = None
        self._end_at: float | None = None
        self._gave_up: str | None = None

    @property
    def is_waiting(self) -> bool:
        head = self._head
        return head is None or not head.is_started or self._short_since is not None

    def look(self) -> Result | None:
        now = time.monotonic()
        if self._head is not None and self._head.is_over:
            return self._close(self._head, now)
        self._hosts.look(now)
        if self._head is None:
            return self._start_or_give_up(now)
        self._look_for_shortage(now)
        return None

    def _start_or_give_up(self, now: float) -> Result | None:
        hosts = self._hosts
        is_pending = any(part.is_pending for part in hosts)
        has_enough = hosts.processes >= self._least
        if has_enough and not hosts.is_closing and (not is_pending or now > self._began + FIRST_S):
            self._start_head()
        elif hosts.is_closing or not (has_enough or is_pending):
            return self._give_up(now)
        return None

    def _give_up(self, now: float) -> Result | None:
        """End before there was a head."""
        self._end(now)
        if not all_over(part.session for part in self._hosts):
            return None
        for part in self._hosts:
            if part.session.refusal is not None or part.session.code not in _HARMLESS:
                return Result(FAILED, f"host {part.host.address}: {part.why}")
        processes = f"{self._hosts.processes} of at least {self._least}"
        return Result(STOPPED, f"{processes} processes were ready", self._hosts.lost)

    def _start_head(self) -> None:
        setting, request = self._setting, self._setting.request
        parts = request.workers + (1 if self._hosts.takes_part else 0)
        told = {
            "address": setting.head.address,
            "hosts": str(self._folder / "hosts.json"),
            "identity": str(self._folder / "key"),
            "sockets": self._sockets,
            "takes_part": self._hosts.takes_part,
            "least_processes": self._least,
            "most_processes": max(self._least, parts * request.processes_per_host),
            # Whether to wait on is decided here; horovodrun must not give up first.
            "wait_s": request.workers_wait_s + 60,
        }
        order = setting.order("elastic", setting.head, elastic=told, shared=[str(self._folder)])
        self._head = setting.session(order, is_head=True)

    def _look_for_shortage(self, now: float) -> None:
        """Wait for a replacement where there are too few hosts, but not for ever."""
        if self._hosts.processes >= self._least:
            self._short_since = None
            return
        self._short_since = self._short_since or now
        wait_s = self._setting.request.workers_wait_s
        if now - self._short_since > wait_s and self._gave_up is None:
            self._gave_up = (
                f"{self._hosts.processes} of at least {self._least} processes were left for "
                f"{wait_s} s: no replacement came"
            )
            self.stop()

    # The end

    def _close(self, head: Session, now: float) -> Result | None:
        """Send the hosts home, then say how it ended."""
        self._end(now)
        if not all_over(part.session for part in self._hosts):
            return None
        lost = self._hosts.lost
        if self._gave_up is not None:
            code = FAILED if head.code in (0, None) else head.code
            return Result(code, self._gave_up, lost, is_final=True)
        if head.refusal is not None:
            return Result(FAILED, f"host {head.address}: {head.refusal}")
        if head.code is None:
            return Result(FAILED, f"what ran on {head.address} was killed: {head.last_words}", lost)
        if head.code == 0:
            return Result(0, "completed")
        return Result(head.code, head.failure or f"horovodrun {exit_text(head.code)}", lost)

    def _end(self, now: float) -> None:
        if self._end_at is None:
            self._end_at = now
            self.stop()
        elif now > self._end_at + 2 * self._setting.patience_s:
            self.abandon()
        elif now > self._end_at + self._setting.patience_s / 3:
            for part in self._hosts:
                part.session.kill()

    def stop(self) -> None:
        self._hosts.is_closing = True
        for session in self._sessions():
            session.stop()

    def kill(self) -> None:
        self._hosts.is_closing = True
        for session in self._sessions():
            session.kill()

    def abandon(self) -> None:
        for session in self._sessions():
            session.abandon()

    def hosts(self) -> list[dict[str, Any]]:
        return self._hosts.described()

    def _sessions(self) -> list[Session]:
        head = [] if self._head is None else [self._head]
        return [*(part.session for part in self._hosts), *head]


def _make_key(folder: Path) -> str:
    """Make the round's own key; return its public half."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    key = folder / "key"
    for path in (key, folder / "key.pub"):
        path.unlink(missing_ok=True)
    done = subprocess.run(
        ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "", "-f", str(key)],  # noqa: S607
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=False,
    )
    if done.returncode != 0:
        raise NodeError(f"ssh-keygen: {done.stderr.decode('utf-8', 'replace').strip()}")
    return (folder / "key.pub").read_text(encoding="ascii").strip()


def sockets_of(run: Path, number: int) -> str:
    """Return a folder that each host can have: short, since a socket's path may not be long."""
    text = f"{run}/{number}"
    place = "/run" if os.geteuid() == 0 else "/tmp"  # noqa: S108  (everybody's, but a folder of ours)
    return f"{place}/mask-rcnn-{hashlib.sha256(text.encode()).hexdigest()[:10]}"
