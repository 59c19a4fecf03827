"""What the head node's program answers: one JSON object, or why it refused."""

from __future__ import annotations

import json
from typing import Any, NoReturn

from training.errors import AwsError, UsageError
from training.platforms.ec2.commands import HEALTH, LIST

SHOWN = 300
"""Characters of an answer that nobody can read."""


class HeadAway(AwsError):
    """No head node is there to answer, or it did not."""


class HeadClosed(HeadAway):
    """It took no request: it is not set up yet, or does not let the caller in."""


class AnswerLost(AwsError):
    """A request went to the head node, and its answer cannot be had."""


class ClusterRefused(AwsError):
    """The cluster refused a request, and did nothing."""


class ClusterBusy(ClusterRefused):
    """Another job runs. It is no fault of the request, which may be sent again later."""


def read_answer(output: str, errors: str) -> dict[str, Any]:
    """Return the object that the program printed.

    Args:
        output: Its stdout.
        errors: Its stderr.

    Raises:
        UsageError: It refused what was asked, or knows no such job.
        ClusterBusy: Another job runs.
        ClusterRefused: It could not do it.
        HeadClosed: The node is not set up yet.
        HeadAway: It said nothing that can be read: the program is not there (yet), or was cut off.
    """
    try:
        found = json.loads(output)
    except ValueError as error:
        raise HeadAway(_unreadable(output, errors)) from error
    if not isinstance(found, dict):
        raise HeadAway(_unreadable(output, errors))
    refusal = found.get("error")
    if isinstance(refusal, dict):
        _refuse(str(refusal.get("kind")), str(refusal.get("message")))
    return found


def _refuse(kind: str, message: str) -> NoReturn:
    if kind in {"usage", "not-found"}:
        raise UsageError(message)
    if kind == "not-ready":
        raise HeadClosed(message)
    if kind == "busy":
        raise ClusterBusy(f"{message}. To look at the cluster's jobs: {LIST}")
    raise ClusterRefused(f"the head node could not do it: {message}")


def _unreadable(output: str, errors: str) -> str:
    said = (errors.strip() or output.strip())[-SHOWN:] or "nothing"
    return (
        "the head node's program gave no answer that can be read. The node may still be in its "
        f"set-up ({HEALTH}). It said: {said}"
    )
