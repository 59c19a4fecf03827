"""Says how a job in containers ended: returns where it succeeded, else raises."""

from __future__ import annotations

import signal
from collections.abc import Mapping

from training.errors import ExitCode, Interrupted, JobCheckpointed, JobFailed
from training.platforms.sagemaker.containers.fleet import FleetEnd

_SIGNALS = {128 + number: number.name for number in signal.Signals}


def conclude(
    end: FleetEnd, reasons: Mapping[str, str | None], *, run_name: str, checkpoint: str | None
) -> None:
    """Return where every container ended with 0.

    Args:
        end: How they ended.
        reasons: Host -> what it wrote to /opt/ml/output/failure.
        run_name: What `--resume --name` takes.
        checkpoint: Where the newest one is; None where there is none.

    Raises:
        JobCheckpointed: It stopped, and there is a checkpoint.
        Interrupted: It was stopped before there was one.
        JobFailed: A container failed.
    """
    codes = set(end.codes.values())
    again = f"run the same command with --resume --name {run_name} to go on"
    if codes == {ExitCode.DONE}:
        return
    if codes <= {ExitCode.DONE, ExitCode.CHECKPOINTED}:
        by = end.stopped.value if end.stopped else "the trainer"
        at = f" ({checkpoint})" if checkpoint else ""
        raise JobCheckpointed(f"by {by}, with a checkpoint{at}; {again}")
    if end.stopped is not None:
        by = end.stopped.value
        if checkpoint is not None:
            raise JobCheckpointed(f"by {by}, at once; the last checkpoint is {checkpoint}; {again}")
        raise Interrupted(
            f"by {by}, before there was a checkpoint; run it again under another --name"
        )
    raise JobFailed(_failure(end, reasons))


def _failure(end: FleetEnd, reasons: Mapping[str, str | None]) -> str:
    host = _host_of_reason(end, reasons)
    if reason := reasons.get(host):
        return f"the job failed: {host}: {reason}"
    lines = [f"the job failed: {host}: the container {_exit_text(end.codes[host])}"]
    if end.last.get(host):
        lines += [f"Last lines of {host}:", *(f"  {line}" for line in end.last[host])]
    return "\n".join(lines)


def _host_of_reason(end: FleetEnd, reasons: Mapping[str, str | None]) -> str:
    """Return the host that failed first.

    Where it was killed from outside it says nothing; that is the reason then, and what its peers
    say of their lost connections is not.
    """
    failed = [host for host, code in end.codes.items() if code]
    first = end.first_failed or failed[0]
    is_killed = end.codes[first] == 128 + signal.SIGKILL
    if reasons.get(first) or is_killed:
        return first
    return next((host for host in failed if reasons.get(host)), first)


def _exit_text(code: int) -> str:
    if code in _SIGNALS:
        more = ", as where memory runs out" if code == 128 + signal.SIGKILL else ""
        return f"was ended by {_SIGNALS[code]} (exit code {code}){more}"
    return f"ended with exit code {code}"
