"""What is told of a job whose state has changed, as an event of EventBridge.

NotificationStack has rules for it (stacks/constructs/own_job_events.py).
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from node.aws_cli import AwsError, aws
from node.config import Events, NodeConfig

from .reason import plain
from .state import State

PLATFORM = "ec2"

CHANGES: Mapping[str, str] = {
    "running": "started",
    "completed": "completed",
    "failed": "failed",
    "checkpointed": "stopped",
    "stopped": "stopped",
}
"""A state to what is told of it; the others are only between these."""

_WITH_REASON = ("failed", "stopped")
"""The others go without saying."""

TIMEOUT_S = 10
"""For one request, with the start of AWS's command line."""
_CONNECT_S, _READ_S = 3, 5


@dataclass(frozen=True)
class JobEvent:
    """One change of one job."""

    status: str
    """started, completed, failed or stopped"""
    time: str
    """When the state was written, ISO in UTC."""
    detail: Mapping[str, Any]


def event_of(config: NodeConfig, state: State, secrets: tuple[str, ...]) -> JobEvent | None:
    """Return what is to be told of a state; None: nothing.

    Args:
        config: Of the cluster.
        state: As it was written.
        secrets: What no reason may show.
    """
    status = CHANGES.get(state.state)
    if status is None:
        return None
    detail = {
        "job": state.name,
        "platform": PLATFORM,
        "cluster": config.cluster,
        "algorithm": state.algorithm,
        "status": status,
        "state": state.state,
    }
    if status in _WITH_REASON and state.reason:
        detail["reason"] = plain(state.reason, secrets)
    return JobEvent(status, state.updated, detail)


def put(event: JobEvent, names: Events, *, region: str) -> None:
    """Put an event on the default bus of the account: one request, without another try.

    Raises:
        AwsError: With a code where AWS has refused it; else it may have arrived all the same.
    """
    entry = {
        "Source": names.source,
        "DetailType": names.detail_type,
        "Time": event.time,
        "Detail": json.dumps(event.detail),
    }
    with tempfile.NamedTemporaryFile("w", suffix=".json", encoding="utf-8") as file:
        json.dump([entry], file)
        file.flush()
        answer = aws(
            *("events", "put-events", "--entries", f"file://{file.name}"),
            *("--cli-connect-timeout", str(_CONNECT_S), "--cli-read-timeout", str(_READ_S)),
            region=region,
            timeout_s=TIMEOUT_S,
            # Its own tries would not be counted: an event whose answer was lost is told twice.
            variables={"AWS_MAX_ATTEMPTS": "1"},
        )
    _check(answer)


def _check(answer: Any) -> None:
    """Raises: AwsError: The answer does not say that the event was taken."""
    try:
        [result] = answer["Entries"]
        code, why = result.get("ErrorCode"), result.get("ErrorMessage")
    except (TypeError, KeyError, ValueError, AttributeError) as error:
        raise AwsError(f"aws events put-events: answer not understood ({error!r})") from error
    if code:
        raise AwsError(f"aws events put-events: {code}: {why}", str(code))
