"""Asks the cluster's head node: by Systems Manager, or over SSH."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Protocol

from training.aws.client import new_session
from training.aws.clients import Clients
from training.cli import log as console
from training.outputs import ClusterOutputs
from training.platforms.common.patience import READ_TIMEOUT_S, Patience, Timer
from training.platforms.ec2.command import Action
from training.platforms.ec2.head_by_ssh import HeadBySsh
from training.platforms.ec2.head_by_ssm import HeadBySsm
from training.platforms.ec2.options import Ec2Options
from training.platforms.ec2.where import where_is

ANSWER_TIMEOUT_S = 120.0
"""For each request: the program answers within seconds, and does what takes longer by itself."""


class Head(Protocol):
    """The head node, whichever instance that is by now."""

    def ask(
        self,
        action: Action,
        request: Mapping[str, Any] | None = None,
        *,
        timeout_s: float = ANSWER_TIMEOUT_S,
        about: str = "",
    ) -> dict[str, Any]:
        """Hand a request to the node's program and return its answer.

        A request that got no answer may be made again: the program does nothing twice.

        Args:
            timeout_s: How long an answer may take.
            about: What the history of commands says of it, besides the action.

        Raises:
            UsageError: The program refused what was asked, or knows no such job.
            ClusterBusy: Another job runs.
            ClusterRefused: It could not do it.
            HeadAway: No head node is there, or it did not answer.
            AwsError: AWS refused, or cannot be reached.
        """


def connect(cluster: ClusterOutputs, *, attempts: int = 1) -> Clients:
    """Return clients of the cluster's region.

    Args:
        attempts: Of each request; 1 is for `Patience`, which makes further ones itself.

    Raises:
        AwsError: There is no such profile.
    """
    region = where_is(cluster).region
    return Clients(new_session(), region, read_timeout_s=READ_TIMEOUT_S, attempts=attempts)


def head_of(
    cluster: ClusterOutputs,
    options: Ec2Options | None = None,
    *,
    attempts: int | None,
    tell: Callable[[str], None] = console.print,
    timer: Timer | None = None,
) -> Head:
    """Return what asks a cluster's head node.

    Args:
        options: Say whether over SSH; None is by Systems Manager.
        attempts: Of each request to AWS; None goes on for ever.
        tell: Takes a line for the user.
        timer: Tells the time and waits.
    """
    timer = timer or Timer()
    if options is not None and options.access == "ssh":
        return HeadBySsh(cluster, options)
    patience = Patience(
        connect(cluster),
        reconnect=lambda: connect(cluster),
        tell=tell,
        timer=timer,
        attempts=attempts,
    )
    return HeadBySsm(cluster, patience=patience, timer=timer)
