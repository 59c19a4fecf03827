"""Lines that programs wrote, as CloudWatch Logs keeps them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from training.aws.errors import AwsRefused
from training.aws.request import ask, ask_all


@dataclass(frozen=True)
class Event:
    """One line."""

    time_ms: int
    """Milliseconds since 1970."""
    text: str


@dataclass(frozen=True)
class Page:
    """A part of a stream, and where it goes on."""

    events: tuple[Event, ...]
    token: str


class LogTokenExpired(Exception):
    """Where to go on is no longer known: such a place is kept for 24 hours."""


class Logs:
    """Amazon CloudWatch Logs."""

    def __init__(self, client: Any) -> None:
        self._client = client

    def streams(self, group: str, prefix: str) -> list[str]:
        """Return the names of a group's streams that begin so; none where there is no group."""
        try:
            found = ask_all(
                self._client,
                "describe_log_streams",
                "logStreams",
                logGroupName=group,
                logStreamNamePrefix=prefix,
            )
        except AwsRefused as error:
            if error.code == "ResourceNotFoundException":
                return []
            raise
        return [stream["logStreamName"] for stream in found]

    def page(self, group: str, stream: str, *, token: str | None, since_ms: int) -> Page:
        """Return the next lines of a stream, in its order.

        A page may be empty although there are more: only a token that comes back as it was sent
        says that this is the end for now.
        https://docs.aws.amazon.com/AmazonCloudWatchLogs/latest/APIReference/API_GetLogEvents.html

        Args:
            group: The log group.
            stream: The log stream.
            token: Where the page before says that it goes on; None begins.
            since_ms: Leave out what was written before (milliseconds since 1970).

        Raises:
            LogTokenExpired: Begin again, with the time of the last line that is known.
        """
        request = {
            "logGroupName": group,
            "logStreamName": stream,
            "startTime": since_ms,
            "startFromHead": True,
        }
        try:
            answer = ask(
                self._client,
                "get_log_events",
                **request | ({"nextToken": token} if token is not None else {}),
            )
        except AwsRefused as error:
            if token is not None and error.code == "InvalidParameterException":
                raise LogTokenExpired from error
            raise
        events = tuple(Event(event["timestamp"], event["message"]) for event in answer["events"])
        return Page(events, answer["nextForwardToken"])
