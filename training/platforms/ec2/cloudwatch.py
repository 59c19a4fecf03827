"""Reads what a job has written from CloudWatch Logs, for when no head node can be asked."""

from __future__ import annotations

from collections.abc import Callable

from training.aws.logs import Event
from training.platforms.common.patience import Patience


def show_from_cloudwatch(
    patience: Patience, *, group: str, job_name: str, show: Callable[[str], None]
) -> int:
    """Show a job's lines, by time, and return how many there are.

    The conductor sends them there by streams named `<job>/…`; the last seconds may be missing.

    Raises:
        AwsError: They cannot be read.
    """
    streams = patience.ask(lambda clients: clients.logs.streams(group, f"{job_name}/"))
    events = [event for stream in streams for event in _events(patience, group, stream)]
    for event in sorted(events, key=lambda event: event.time_ms):
        show(event.text)
    return len(events)


def _events(patience: Patience, group: str, stream: str) -> list[Event]:
    events: list[Event] = []
    token: str | None = None
    while True:
        page = patience.ask(
            lambda clients, at=token: clients.logs.page(group, stream, token=at, since_ms=0)  # type: ignore[misc]
        )
        events += page.events
        # Only a token that comes back as it was sent says that this is the end.
        if page.token == token:
            return events
        token = page.token
