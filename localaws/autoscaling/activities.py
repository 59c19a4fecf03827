"""What a group did, as DescribeScalingActivities shows it."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Literal

from moto.core.utils import utcnow
from moto.moto_api._internal import mock_random

Status = Literal["Successful", "Failed"]

KEPT = 200
"""Activities of a group; older ones are forgotten, as AWS forgets those of six weeks ago."""


class Activity:
    """One launch or end of an instance, done or failed."""

    def __init__(
        self,
        group: Any,
        description: str,
        cause: str,
        status: Status = "Successful",
        message: str | None = None,
    ) -> None:
        self.activity_id = str(mock_random.uuid4())
        self.auto_scaling_group_name = group.name
        self.auto_scaling_group_arn = group.arn
        self.description = description
        self.cause = cause
        self.start_time: datetime = utcnow()
        self.end_time: datetime = self.start_time
        self.status_code = status
        self.status_message = message
        self.progress = 100
        self.details = "{}"


def at(what: str) -> str:
    """Begin a cause as AWS does, with the time."""
    return f"At {utcnow():%Y-%m-%dT%H:%M:%SZ} {what}"
