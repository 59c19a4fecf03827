"""Watches a round to its end, and has it stopped where that is asked for or must be."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

from .output import Output
from .places import RunFolder
from .progress import Progress, last_step
from .request import Request
from .round import Result, Round
from .state import State
from .verdict import LIMIT, STALL, USER

LOOK_S = 0.5
_WRITE_S = 5
"""Between two states, with which the lease is renewed."""
STOP_S = 130
"""After the request to stop: time until the round is killed; hosts kill after 120 s themselves."""

SHUTDOWN = "shutdown"
"""Who has a round stopped, besides those of `verdict`: this machine goes down."""

_WHY = {
    USER: "is asked to stop: saves and leaves",
    LIMIT: "has reached its time limit: saves and leaves",
    STALL: "makes no progress: is stopped",
    SHUTDOWN: "the head shuts down: the job saves, and goes on later",
}


class Watch:
    """Args:
    run: The job's folder.
    request: The job.
    state: Its hosts and the time that it ran are kept up to date.
    output: Where to say what is done.
    leaving: Set when this machine goes down.
    change: Writes the state, with its name and a reason; raises where another head has the job.
    """

    def __init__(
        self,
        *,
        run: RunFolder,
        request: Request,
        state: State,
        output: Output,
        leaving: threading.Event,
        change: Callable[[str, str | None], None],
    ) -> None:
        self._run = run
        self._request = request
        self._state = state
        self._output = output
        self._leaving = leaving
        self._change = change
        self._progress = Progress(run, output, by_files=request.algorithm == "horovod")

    def follow(self, round_: Round) -> tuple[Result, str | None]:
        """Return how the round ended, and who had it stopped, if anybody."""
        self._progress.restart()
        stopped_by: str | None = None
        last = written = time.monotonic()
        kill_at = float("inf")
        while True:
            result = round_.look()
            self._state.hosts = round_.hosts()
            now = time.monotonic()
            self._state.ran_s += now - last
            last = now
            if result is not None:
                return result, stopped_by
            if round_.is_waiting:
                self._progress.restart()
            if stopped_by is None:
                stopped_by = self._wish()
                if stopped_by is not None:
                    self._output.say(_WHY[stopped_by])
                    self._change("stopping", _WHY[stopped_by])
                    round_.stop()
                    kill_at = now + STOP_S
            if now > kill_at:
                self._output.say("kills what has not stopped in time")
                round_.kill()
                kill_at = now + STOP_S
            if now > written + _WRITE_S:
                written = now
                self._state.step = last_step(self._run)
                self._change(self._state.state, self._state.reason)
            time.sleep(LOOK_S)

    def _wish(self) -> str | None:
        """Return who wants the round to stop."""
        if self._leaving.is_set():
            return SHUTDOWN
        if self._run.stop.exists():
            return USER
        if self._state.ran_s > self._request.max_run_s:
            return LIMIT
        if self._progress.idle_s() > self._request.stall_s:
            return STALL
        return None
