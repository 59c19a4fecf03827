"""Says how a training job ended: returns where it succeeded, raises what a script should see."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from enum import Enum

from training.errors import AwsError, ExitCode, Interrupted, JobCheckpointed, JobFailed
from training.platforms.sagemaker.state import JobState


class Checkpoint(Enum):
    """Whether there is one to go on from."""

    THERE = "with a checkpoint"
    NONE = "before there was a checkpoint"
    UNKNOWN = "whether with a checkpoint cannot be seen from here"


_STOPS: Mapping[str, str] = {
    "MaxRuntimeExceeded": "its time limit (limits.max_run_s)",
    "MaxWaitTimeExceeded": "the limit of its waiting for spot capacity (spot.max_wait_s)",
}
"""What stopped a job, by SecondaryStatus; anything else is a request.

https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_DescribeTrainingJob.html
"""

_NO_MACHINES = "CapacityError"
"""Begins the reason of a job that got no instances, as in "CapacityError: Unable to provision
requested ML compute capacity. Please retry using a different ML instance type."

https://github.com/DIAGNijmegen/rse-grand-challenge/issues/2631
"""

_FAULT_OF_AWS = "InternalServerError"
"""The only failure that RetryStrategy repeats (API_RetryStrategy of the reference)."""

_AGAIN = "launch it again, under another --name if you gave it one: SageMaker uses a name once"

_EXIT_CODE = re.compile(r"exit code:? (\d+)", re.IGNORECASE)


def conclude(
    state: JobState,
    *,
    last_lines: Sequence[str],
    look_for_checkpoint: Callable[[JobState], Checkpoint],
) -> None:
    """Return where the job completed.

    Args:
        state: Of a job that has ended.
        last_lines: Of the host that failed; of all where it is not known which did.
        look_for_checkpoint: Asked only where a job was stopped.

    Raises:
        JobFailed: It failed; or it was stopped, and is of a kind that saves nothing.
        AwsError: AWS had no machines for it, so that nothing of it ever ran.
        JobCheckpointed: It was stopped, and may go on.
        Interrupted: It was stopped before there was anything to go on from.
    """
    if state.status == "completed":
        return
    reason = state.failure_reason or "SageMaker gives no reason"
    if state.status == "stopped":
        by = _STOPS.get(state.secondary, "request")
        if not state.can_resume:
            raise JobFailed(f"{state.name} was stopped by {by}, and has no folder of checkpoints")
        _stopped(state, by, look_for_checkpoint(state))
    if _leaves_with(reason) == ExitCode.CHECKPOINTED:
        _stopped(state, "a signal", Checkpoint.THERE)
    if reason.startswith(_NO_MACHINES):
        raise AwsError(
            f"{state.name} got no machines: {reason} ({state.machines}). Nothing of it ran. Try "
            "again later, or with another instance type, fewer instances, or another zone; "
            f"{_AGAIN}"
        )
    raise JobFailed(_failure(state, reason, last_lines))


def failed_host(reason: str | None) -> str | None:
    """Return the host that a failure names, such as `algo-2`; None where it names none."""
    match = re.search(r"\balgo-\d+\b", reason or "")
    return match[0] if match else None


def _failure(state: JobState, reason: str, last_lines: Sequence[str]) -> str:
    lines = [f"{state.name} failed: {reason}"]
    if _FAULT_OF_AWS in reason:
        lines.append(
            "That is a fault of AWS's machines. Let SageMaker try again by itself (retries), or "
            f"{_AGAIN}"
        )
    if last_lines:
        lines.append(f"Last lines of {failed_host(state.failure_reason) or 'the job'}:")
    return "\n".join([*lines, *(f"  {line}" for line in last_lines)])


def _stopped(state: JobState, by: str, checkpoint: Checkpoint) -> None:
    said = f"{state.name} was stopped by {by}"
    again = "the same launch command with --resume"
    if state.run_name is not None:
        again += f" --name {state.run_name}"
    if checkpoint is Checkpoint.NONE:
        raise Interrupted(f"{said}, {checkpoint.value}. To begin anew, {_AGAIN}")
    if checkpoint is Checkpoint.THERE:
        raise JobCheckpointed(f"{said}, {checkpoint.value}; to go on: {again}")
    raise JobCheckpointed(
        f"{said}; {checkpoint.value}. {again[0].upper()}{again[1:]} goes on from its last "
        "checkpoint, or begins anew where there is none"
    )


def _leaves_with(reason: str) -> int | None:
    match = _EXIT_CODE.search(reason)
    return int(match[1]) if match else None
