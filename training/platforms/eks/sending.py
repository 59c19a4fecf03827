"""Sends a plan to the cluster, and follows the job."""

from __future__ import annotations

from collections.abc import Callable

from training.cli import log as console
from training.errors import Interrupted
from training.platforms.api import Ending
from training.platforms.common.patience import Timer
from training.platforms.eks.commands import how_to_follow
from training.platforms.eks.connection import Connection, connected
from training.platforms.eks.follow import follow
from training.platforms.eks.request import EksRequest
from training.platforms.eks.submission import submit


def send(
    request: EksRequest,
    *,
    wait: bool,
    connection: Connection | None = None,
    show: Callable[[str], None] | None = None,
    timer: Timer | None = None,
) -> Ending:
    """Make the release; return once the cluster has the MPIJob, or the job has ended.

    Args:
        wait: Follow the job to its end.
        connection: To the cluster; made here by default.
        show: Takes each line of a job that is followed; the log by default.
        timer: Tells the time and waits.

    Raises:
        UsageError: The name is another job's, or helm and kubectl are not here.
        JobFailed, JobCheckpointed: How a job that was followed ended otherwise.
        AwsError: The cluster refused, or did not answer; the message says whether it may be there.
        Interrupted: The user did not wait.
    """
    if connection is not None:
        return _send(connection, request, wait=wait, show=show, timer=timer)
    try:
        with connected(request.cluster) as made:
            return _send(made, request, wait=wait, show=show, timer=timer)
    except KeyboardInterrupt as error:
        raise Interrupted(f"before {request.job_name} was sent: no job was started") from error


def _send(
    connection: Connection,
    request: EksRequest,
    *,
    wait: bool,
    show: Callable[[str], None] | None,
    timer: Timer | None,
) -> Ending:
    name = request.job_name
    found = submit(connection, request, timer=timer)
    # One that has ended is not on its way: how it ended is told, as to whoever follows it.
    if not wait and not (found is not None and found.has_ended):
        console.print(f"{name} is on its way. Follow it: {how_to_follow(name)}")
        return "submitted"
    follow(connection, name, (show or console.out) if wait else _no_line, timer=timer)
    return "completed"


def _no_line(_: str) -> None:
    """Take a line that nobody asked for."""
