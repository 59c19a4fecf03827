"""Says how a job on a cluster ended: returns where it succeeded, raises what a script sees."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from training.errors import Interrupted, JobCheckpointed, JobFailed
from training.jobs.info import Status


class Ended(Protocol):
    """A job that has ended, as its platform tells."""

    @property
    def name(self) -> str: ...
    @property
    def status(self) -> Status: ...
    @property
    def reason(self) -> str | None: ...
    @property
    def exit_code(self) -> int | None: ...


def conclude(state: Ended, *, last_lines: Sequence[str]) -> None:
    """Return where the job completed.

    Args:
        state: Of a job that has ended.
        last_lines: Of its output.

    Raises:
        JobFailed: It failed; the message has the reason and the last lines.
        JobCheckpointed: It was stopped with a checkpoint.
        Interrupted: It was stopped before there was one.
    """
    if state.status == "completed":
        return
    reason = f": {state.reason}" if state.reason else ""
    if state.status == "checkpointed":
        raise JobCheckpointed(
            f"{state.name} was stopped with a checkpoint{reason}; to go on: the same launch "
            f"command with --resume --name {state.name}"
        )
    if state.status == "stopped":
        raise Interrupted(
            f"{state.name} was stopped before there was a checkpoint{reason}. To begin anew, "
            "launch it under another --name"
        )
    lines = [f"{state.name} failed{reason or ': the cluster gives no reason'}"]
    if state.exit_code is not None:
        lines[0] += f" (exit code {state.exit_code})"
    if last_lines:
        lines.append("Its last lines:")
    raise JobFailed("\n".join([*lines, *(f"  {line}" for line in last_lines)]))
