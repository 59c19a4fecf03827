"""Tells how a job does to whoever waits for that, beside the job and never in its way."""

from __future__ import annotations

import queue
import threading
import time
import traceback
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Protocol

from node.aws_cli import AwsError
from node.config import Events, NodeConfig

from . import jobs
from .job_event import CHANGES, TIMEOUT_S, JobEvent, event_of, put
from .places import RunFolder
from .reason import secrets_of
from .state import State, read_object
from .told import Told

PAUSES_S = (0.0, 2.0, 5.0)
"""Before each try."""

FINISH_S = 2 * (len(PAUSES_S) * TIMEOUT_S + sum(PAUSES_S))
"""Longer than the tries of both changes of a job, its start and its end."""


class Teller(Protocol):
    """What takes a job's states."""

    def notice(self, state: State) -> None:
        """Take a state that has been written; returns at once."""

    def finish(self) -> None:
        """Return once nobody is to be told any more, or after a time."""


class NobodyIsTold:
    """Where there is no NotificationStack."""

    def notice(self, state: State) -> None:
        """Do nothing."""

    def finish(self) -> None:
        """Do nothing."""


class Telling:
    """Puts an event on the account's bus for each change, in a thread of its own.

    Args:
        config: Of the cluster.
        names: Of the events.
        run: The job's folder.
        created: When the job was submitted.
        say: Told what was not told; the job goes on.
        pauses_s: Before each try.
    """

    def __init__(
        self,
        config: NodeConfig,
        names: Events,
        *,
        run: RunFolder,
        created: str,
        say: Callable[[str], None],
        pauses_s: Sequence[float] = PAUSES_S,
    ) -> None:
        self._config = config
        self._names = names
        self._run = run
        self._told = Told(run.told, created)
        self._say = say
        self._pauses_s = pauses_s
        self._noticed: set[str] = set()
        self._states: queue.SimpleQueue[State | None] = queue.SimpleQueue()
        # It dies with the conductor, which the next one makes good.
        self._thread = threading.Thread(target=self._tell_all, daemon=True)
        self._thread.start()

    def notice(self, state: State) -> None:
        if state.state not in self._noticed:
            self._noticed.add(state.state)
            # A copy, since the conductor goes on to change it.
            self._states.put(replace(state))

    def finish(self) -> None:
        self._states.put(None)
        self._thread.join(FINISH_S)

    def _secrets(self) -> tuple[str, ...]:
        """Return what the user gave the job in variables."""
        variables = read_object(self._run.request).get("environment")
        return secrets_of(variables) if isinstance(variables, dict) else ()

    def _tell_all(self) -> None:
        while (state := self._states.get()) is not None:
            try:
                event = event_of(self._config, state, self._secrets())
                if event is not None:
                    self._tell(event)
            except OSError as error:
                self._say(f"nobody is told that the job is {state.state}: {error}")
            except Exception:
                # A mistake of ours is none of the job's.
                self._say(f"nobody is told that the job is {state.state}: {traceback.format_exc()}")

    def _tell(self, event: JobEvent) -> None:
        problem: AwsError | None = None
        for pause_s in self._pauses_s:
            time.sleep(pause_s)
            if not self._told.begin(event.status):
                break
            try:
                put(event, self._names, region=self._config.region)
            except AwsError as error:
                problem = error
                if error.code:
                    self._told.take_back(event.status)
                continue
            self._told.finish(event.status)
            return
        if problem is not None:
            self._say(f"nobody may have been told that the job has {event.status}: {problem}")


def teller_of(
    config: NodeConfig, *, run: RunFolder, created: str, say: Callable[[str], None]
) -> Teller:
    """Return who tells of a job."""
    if config.events is None:
        return NobodyIsTold()
    return Telling(config, config.events, run=run, created=created, say=say)


def untold(config: NodeConfig) -> list[State]:
    """Return the jobs whose end a head did not come to tell; another one may.

    Not those that ended while nobody was told of jobs.
    """
    if config.events is None:
        return []
    return [
        state
        for run, state in jobs.all_jobs(config)
        if state.is_final and Told(run.told, state.created).lacks(CHANGES[state.state])
    ]
