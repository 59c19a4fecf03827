"""Ends a job so that its ranks save a checkpoint, and removes what is left of it.

A suspended MPIJob gets no new pods, and those that it has get SIGTERM and their grace. How the
launcher ended is in its last line; its pod is gone a moment later. Only then is the rest removed,
since its release's network policy is what lets the ranks talk.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from training.cli import log as console
from training.errors import Interrupted, TrainingError
from training.jobs.info import Status
from training.kubernetes.client import LogReader
from training.platforms.common.patience import Timer
from training.platforms.eks.commands import how_to_stop
from training.platforms.eks.connection import Connection
from training.platforms.eks.launcher_log import CONTAINER
from training.platforms.eks.looking import MPIJOBS, observe, require
from training.platforms.eks.observed import Observed, Pod
from training.platforms.eks.record import description
from training.platforms.eks.removing import LOOK_S, REMOVAL_S, remove, wait_until_gone
from training.platforms.eks.state import CHECKPOINTED, JobState, read_state

CONNECT_S = 10.0
"""How long a connection to the launcher's log may take, which must be there before its end."""

DEFAULT_GRACE_S = 300
"""Where a pod does not say: the charts' own."""

_LAST_LINE = re.compile(r"entrypoint: exit code (?P<code>\d+): (?P<reason>.*)")
"""docker/entrypoint writes it last of all."""

_ENDINGS: Mapping[int, Status] = {0: "completed", 1: "failed", CHECKPOINTED: "checkpointed"}
"""By the launcher's exit code; any other is one of a job that was stopped."""


@dataclass(frozen=True)
class LastWord:
    """How a launcher ended, in its own words."""

    code: int
    reason: str


def stop(
    connection: Connection,
    name: str,
    *,
    tell: Callable[[str], None] = console.print,
    timer: Timer | None = None,
) -> JobState:
    """End a job and remove it; return how it ended. One that was removed stays as it is.

    Args:
        connection: To the cluster.
        name: The job.
        tell: Takes a line for the user.
        timer: Tells the time and waits.

    Raises:
        UsageError: There is no such job.
        AwsError: The cluster refused, does not answer, or something of the job stays there; the
            message says what.
        Interrupted: By the user; the same command goes on with it.
    """
    stopping = _Stopping(connection, name, tell, timer or Timer())
    try:
        return stopping.run()
    except KeyboardInterrupt as error:
        raise Interrupted(
            f"the end of {name} was asked for, and is not waited for any more. Pods and release "
            f"may still be there: {how_to_stop(name)} removes them"
        ) from error


def last_word(line: str) -> LastWord | None:
    """Return what the launcher's entry point says of its end; None for any other line."""
    found = _LAST_LINE.match(line)
    return LastWord(int(found["code"]), found["reason"]) if found else None


def judged(state: JobState, word: LastWord | None) -> JobState:
    """Return how a job ended that was asked to, whose pods are gone.

    Args:
        state: As it was seen last.
        word: What its launcher said last, where it was heard.
    """
    if state.status in {"completed", "failed", "checkpointed"}:
        return state
    if word is None:
        return replace(state, status="stopped", reason="its pods were ended")
    status = _ENDINGS.get(word.code, "stopped")
    return replace(state, status=status, reason=word.reason, exit_code=word.code)


class _Stopping:
    """One job that is being ended."""

    def __init__(
        self, connection: Connection, name: str, tell: Callable[[str], None], timer: Timer
    ) -> None:
        self._connection = connection
        self._name = name
        self._tell = tell
        self._timer = timer
        self._last_line: LastWord | None = None
        self._log: LogReader | None = None

    def run(self) -> JobState:
        """Let it save, remove it, and return how it ended."""
        state = require(self._connection, self._name, now=datetime.now(UTC))
        if state.is_removed:
            # What did not go then may still be there.
            wait_until_gone(self._connection, self._name, timer=self._timer)
            return state
        observed = observe(self._connection, self._name)
        if observed is not None and not state.has_ended:
            state = self._let_it_save(observed)
        kept = description(state.status, state.reason)
        remove(self._connection, self._name, description=kept)
        grace_s = _longest_grace_s(observed.pods if observed is not None else ())
        wait_until_gone(self._connection, self._name, grace_s=grace_s, timer=self._timer)
        return replace(state, leftovers=(), is_removed=True, ended=state.ended or self._now())

    def _let_it_save(self, observed: Observed) -> JobState:
        """Suspend a job and wait until its pods are gone; return how it ended."""
        running = [pod for pod in observed.launchers if pod.phase == "Running"]
        grace_s = _longest_grace_s(observed.pods)
        with suppress(TrainingError):
            # Before the pods are asked to end: their logs go with them.
            self._listen(running)
        suspend = {"spec": {"runPolicy": {"suspend": True}}}
        self._connection.kubernetes.patch(MPIJOBS, self._name, suspend)
        if running:
            self._tell(f"{self._name}: its ranks save a checkpoint, {grace_s:,} s at most")
        until = self._timer.now() + grace_s + REMOVAL_S
        state = read_state(observed, now=self._now())
        while self._timer.now() < until:
            again = observe(self._connection, self._name)
            if again is None:
                break
            state = read_state(again, now=self._now())
            if state.has_ended and state.status != "stopped":
                break  # By itself, in between.
            if not any(pod.is_active for pod in again.pods):
                break
            self._timer.sleep(LOOK_S)
        self._end_listening()
        return judged(state, self._last_line)

    def _listen(self, launchers: list[Pod]) -> None:
        """Take note of the launcher's last line, in the background; return once it is heard."""
        if not launchers:
            return
        is_heard = threading.Event()
        log = self._log = self._connection.kubernetes.log(
            launchers[-1].name, CONTAINER, follow=True, timestamps=False, tail=1
        )

        def read() -> None:
            with suppress(TrainingError), log:
                for line in log:
                    # The latest of before, which comes at once.
                    is_heard.set()
                    self._last_line = last_word(line) or self._last_line
            is_heard.set()

        threading.Thread(target=read, daemon=True).start()
        is_heard.wait(CONNECT_S)

    def _end_listening(self) -> None:
        """Give the last line a moment to arrive."""
        until = self._timer.now() + LOOK_S
        while self._log is not None and self._last_line is None and self._timer.now() < until:
            self._timer.sleep(0.1)
        if self._log is not None:
            self._log.end()

    def _now(self) -> datetime:
        return datetime.now(UTC)


def _longest_grace_s(pods: Sequence[Pod]) -> int:
    """Return how long the slowest of a job's pods may take to end."""
    told = (pod.object["spec"].get("terminationGracePeriodSeconds") for pod in pods)
    known = (DEFAULT_GRACE_S if each is None else int(each) for each in told)
    return max(known, default=DEFAULT_GRACE_S)
