"""Sends a plan to the cluster's head node, so that it makes one job, and follows it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from training.aws.errors import AwsRefused, AwsUnreachable, NoCredentials
from training.cli import log as console
from training.errors import AwsError, Interrupted
from training.platforms.api import Ending
from training.platforms.common.patience import Timer
from training.platforms.ec2.answer import ClusterRefused, HeadClosed
from training.platforms.ec2.commands import how_to_follow, how_to_look
from training.platforms.ec2.follow import follow
from training.platforms.ec2.head import Head, head_of
from training.platforms.ec2.request import Ec2Request
from training.platforms.ec2.state import JobState, read_state

ATTEMPTS = 7
"""Of each request to AWS; with the pauses in between, about a minute."""


def send(
    request: Ec2Request,
    *,
    wait: bool,
    head: Head | None = None,
    show: Callable[[str], None] | None = None,
    timer: Timer | None = None,
) -> Ending:
    """Send the request; return once the head node has taken it, or the job has ended.

    What got no answer is sent again: the head node's program knows a request by its fingerprint.

    Args:
        wait: Follow the job to its end.
        head: Takes it; made here by default.
        show: Takes each line of a job that is followed; the log by default.
        timer: Tells the time and waits.

    Raises:
        UsageError: The name is another job's, or the program refused the request.
        ClusterBusy: Another job runs.
        JobFailed, JobCheckpointed: How a job that was followed ended otherwise.
        AwsError: The cluster refused, or did not answer; the message says whether it may be there.
        Interrupted: The user did not wait for the answer, or the end.
    """
    name, show = request.job_name, show or console.out
    head_now = head or head_of(request.cluster, request.options, attempts=ATTEMPTS)
    state = submit(name, request.document, head_now)
    # One that has ended is not on its way: how it ended is told, as to whoever follows it.
    if not wait and not state.has_ended:
        console.print(f"{name} is {state.status}. Follow it: {how_to_follow(name)}")
        return "submitted"
    head = head or head_of(request.cluster, request.options, attempts=None)
    follow(head, name, show if wait else _no_line, timer=timer)
    return "completed"


def submit(name: str, document: Mapping[str, Any], head: Head) -> JobState:
    """Hand a request to the head node; return how what it asks for stands.

    Args:
        name: Of what it starts.
        document: The request, with its fingerprint.
        head: Takes it.

    Raises:
        UsageError: The name is another's, or the program refused the request.
        ClusterBusy: Another job runs.
        AwsError: The cluster refused, or did not answer; the message says whether it may be there.
        Interrupted: The user did not wait for the answer.
    """
    about = f"{name} {document['fingerprint'][:12]}"
    try:
        state = read_state(head.ask("submit", document, about=about))
    except KeyboardInterrupt as error:
        raise Interrupted(_may_be_there(name)) from error
    except AwsError as error:
        if not _may_have_arrived(error):
            raise
        raise AwsError(f"{error}. {_may_be_there(name)}") from error
    if state.has_ended:
        console.print(
            f"{name} is there already, from the same request ({state.status}): no "
            "other was started; for another, give another --name"
        )
    return state


def _may_have_arrived(error: AwsError) -> bool:
    """Return whether the head node may have taken a request that ended so."""
    if isinstance(error, AwsRefused):
        return error.is_fault
    if isinstance(error, AwsUnreachable):
        return error.may_have_arrived
    return not isinstance(error, ClusterRefused | HeadClosed | NoCredentials)


def _may_be_there(job_name: str) -> str:
    return (
        f"Whether {job_name} was started is not known. Before you launch it again, look: "
        f"{how_to_look(job_name)}"
    )


def _no_line(_: str) -> None:
    """Take a line that nobody asked for."""
