"""A round on hosts that stay the same: mpirun or torchrun, as the entry point starts them.

Each host runs the image's `train` as on SageMaker; they find each other. The first of them is the
entry point's head, which decides how the job ended.
"""

from __future__ import annotations

import time
from typing import Any

from .round import FAILED, Result, Setting, all_over, described, exit_text
from .session import Session


class RigidRound:
    def __init__(self, setting: Setting) -> None:
        self._setting = setting
        # As docker/entrypoint/resources.py sorts them: the first is its head.
        self._by_address = {host.address: host for host in setting.hosts}
        addresses = sorted(self._by_address)
        self._sessions = [
            setting.session(
                setting.order("train", self._by_address[address], hosts=addresses),
                is_head=address == addresses[0],
            )
            for address in addresses
        ]
        self._kill_at: float | None = None
        self._abandon_at: float | None = None

    @property
    def _head(self) -> Session:
        return self._sessions[0]

    @property
    def is_waiting(self) -> bool:
        return not all(session.is_started for session in self._sessions)

    def look(self) -> Result | None:
        now = time.monotonic()
        if all_over(self._sessions):
            return self._result()
        if self._kill_at is None and any(session.is_over for session in self._sessions):
            # The others hear of it, and leave by themselves.
            self._kill_at = now + self._setting.patience_s
        if self._abandon_at is not None and now > self._abandon_at:
            self.abandon()
        elif self._kill_at is not None and now > self._kill_at and self._abandon_at is None:
            self.kill()
        return None

    def stop(self) -> None:
        for session in self._sessions:
            session.stop()

    def kill(self) -> None:
        self._abandon_at = time.monotonic() + self._setting.patience_s
        for session in self._sessions:
            session.kill()

    def abandon(self) -> None:
        for session in self._sessions:
            session.abandon()

    def hosts(self) -> list[dict[str, Any]]:
        slots = self._setting.request.processes_per_host
        return [
            described(
                self._by_address[session.address],
                _state(session),
                slots,
            )
            for session in self._sessions
        ]

    def _result(self) -> Result:
        for session in self._sessions:
            if session.refusal is not None:
                return Result(FAILED, f"host {session.address}: {session.refusal}")
        lost = tuple(session.address for session in self._sessions if session.is_lost)
        code = self._head.code
        if code is None:
            return Result(FAILED, f"host {self._head.address} is gone", lost)
        if code == 0:
            for session in self._sessions:
                if session.code not in (0, None):
                    return Result(FAILED, f"host {session.address} {exit_text(session.code)}")
            return Result(0, "completed")
        reason = self._head.failure or f"host {self._head.address} {exit_text(code)}"
        if lost:
            reason = f"host {', '.join(lost)} is gone; {reason}"
        return Result(code, reason, lost)


def _state(session: Session) -> str:
    if session.is_lost:
        return "lost"
    return "ended" if session.is_over else "running"
