"""What becomes of a job after a round: done, given up, or started again.

A failure counts against `retries` where it is the job's own. Where a host went away in that round,
or all ranks left with a checkpoint that nobody asked for (AWS takes a host), it does not; but a job
that was started three times in a row without a new step is not started again for free.
"""

from __future__ import annotations

from dataclasses import dataclass

from .request import Request
from .round import FAILED, STOPPED, STOPPED_WITH_CHECKPOINT, Result
from .state import State

MOST_IDLE_ROUNDS = 3

USER, LIMIT, STALL = "user", "limit", "stall"
"""Who had the round stopped."""


@dataclass(frozen=True)
class Verdict:
    """`state` is a final one, or None: start it again."""

    state: str | None
    exit_code: int | None
    reason: str
    counts: bool = False
    """Against `retries`."""


def judge(result: Result, request: Request, state: State, stopped_by: str | None) -> Verdict:
    """Judge a round.

    Args:
        result: How it ended.
        request: The job.
        state: With the rounds so far; `idle_rounds` has this one in it.
        stopped_by: Who had it stopped, if anybody.
    """
    if result.code == 0:
        return Verdict("completed", 0, "completed")
    if result.is_final:
        return Verdict("failed", FAILED, result.reason)
    if stopped_by in (USER, LIMIT):
        return _stopped(result, request, state, stopped_by)
    if stopped_by == STALL:
        return _failed(
            f"made no progress for {request.stall_s} s, so it was stopped", request, state
        )
    is_free = bool(result.lost) or result.code == STOPPED_WITH_CHECKPOINT
    if is_free and state.idle_rounds < MOST_IDLE_ROUNDS:
        return Verdict(None, None, result.reason)
    idle = f"{state.idle_rounds} starts in a row brought no new step: " if is_free else ""
    return _failed(idle + result.reason, request, state)


def _stopped(result: Result, request: Request, state: State, by: str) -> Verdict:
    who = "as asked" if by == USER else f"by its time limit, {request.max_run_s} s"
    if result.code == STOPPED_WITH_CHECKPOINT:
        reason = f"stopped {who}, with a checkpoint at step {state.step}"
        return Verdict("checkpointed", STOPPED_WITH_CHECKPOINT, reason)
    if result.code == FAILED and not result.lost:
        # A rank that failed meanwhile is a failure of the job.
        return Verdict("failed", FAILED, f"{result.reason} (while it was stopped {who})")
    return Verdict("stopped", STOPPED, f"stopped {who}: {result.reason}")


def _failed(reason: str, request: Request, state: State) -> Verdict:
    failures = state.failures + 1
    if failures > request.retries:
        tried = f" (after {failures} attempts)" if failures > 1 else ""
        return Verdict("failed", FAILED, reason + tried, counts=True)
    return Verdict(
        None, None, f"{reason}; attempt {failures} of {request.retries + 1}", counts=True
    )
