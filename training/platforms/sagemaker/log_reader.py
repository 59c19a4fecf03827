"""Reads the lines of all hosts of a job from CloudWatch, each line once."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from training.aws.logs import LogTokenExpired, Page
from training.platforms.common.patience import Patience, Timer
from training.platforms.sagemaker.log_lines import Line

GROUP = "/aws/sagemaker/TrainingJobs"
"""Its streams are named `<job>/algo-<number of the host>-<time>`, one or more for each host.

https://docs.aws.amazon.com/sagemaker/latest/dg/logging-cloudwatch.html
"""

PAUSE_S = 0.25
"""Between two requests. DescribeLogStreams takes 25 a second from an account in a region (its
reference), and others look at logs too: https://repost.aws/knowledge-center/cloudwatch-logs-throttling
"""

SETTLED_S = 60.0
"""Of lines that are older, all have arrived: a long log is shown as it is read."""

LOOK_FOR_STREAMS_S = 30.0
"""How often to look for further streams once each host has one: a host that was replaced begins
another."""


@dataclass(frozen=True)
class Part:
    """Lines of one host, in their order."""

    lines: tuple[Line, ...]
    whole_until_ms: int
    """All lines from before that time were given, of all hosts."""


@dataclass
class _Stream:
    name: str
    host: str
    token: str | None = None
    since_ms: int = 0
    """What the token's first page began with: it stays the same from page to page."""
    time_ms: int = 0
    """The latest of the lines that were given."""
    lines_then: int = 0
    """How many lines of that very millisecond were given."""
    has_more: bool = True
    skip: int = 0
    """Lines at the beginning of the next page that were given already."""


class LogReader:
    """Where each stream of a job was read up to.

    A place moves on only with the answer that has its lines: a request that got none is made again
    and no line is lost, or given twice.
    """

    def __init__(self, job_name: str, *, hosts: int, patience: Patience, timer: Timer) -> None:
        self._prefix = f"{job_name}/"
        self._hosts = hosts
        self._patience = patience
        self._timer = timer
        self._streams: dict[str, _Stream] = {}
        self._looked_at: float | None = None

    def look(self, *, is_last: bool = False) -> Iterator[Part]:
        """Yield what was written since the last look; of all streams, the one that is behind first.

        Args:
            is_last: Look for further streams in any case.

        Raises:
            AwsError: The lines may not be read.
        """
        if is_last or self._may_have_other_streams():
            self._find_streams()
        for stream in self._streams.values():
            stream.has_more = True
        while unread := [stream for stream in self._streams.values() if stream.has_more]:
            behind = min(unread, key=lambda stream: stream.time_ms)
            lines = self._read(behind)
            if lines:
                yield Part(lines, self._whole_until_ms())

    def _whole_until_ms(self) -> int:
        settled_ms = int((self._timer.now() - SETTLED_S) * 1000)
        unread = (stream.time_ms for stream in self._streams.values() if stream.has_more)
        return min([settled_ms, *unread])

    def _may_have_other_streams(self) -> bool:
        hosts = {stream.host for stream in self._streams.values()}
        return (
            len(hosts) < self._hosts
            or self._looked_at is None
            or self._timer.now() - self._looked_at >= LOOK_FOR_STREAMS_S
        )

    def _find_streams(self) -> None:
        self._looked_at = self._timer.now()
        names = self._patience.ask(lambda clients: clients.logs.streams(GROUP, self._prefix))
        for name in names:
            self._streams.setdefault(name, _Stream(name, _host(name)))

    def _read(self, stream: _Stream) -> tuple[Line, ...]:
        """Return the next page of a stream, without lines that were given already."""
        self._timer.sleep(PAUSE_S)
        try:
            page = self._patience.ask(
                lambda clients: clients.logs.page(
                    GROUP, stream.name, token=stream.token, since_ms=stream.since_ms
                )
            )
        except LogTokenExpired:
            # Again from the last line's time: the lines of that millisecond come once more.
            stream.token, stream.since_ms, stream.skip = None, stream.time_ms, stream.lines_then
            return ()
        return _move_on(stream, page)


def _move_on(stream: _Stream, page: Page) -> tuple[Line, ...]:
    new = page.events[stream.skip :]
    stream.skip -= len(page.events) - len(new)
    stream.has_more = page.token != stream.token
    stream.token = page.token
    for event in new:
        if event.time_ms > stream.time_ms:
            stream.time_ms, stream.lines_then = event.time_ms, 0
        stream.lines_then += event.time_ms == stream.time_ms
    return tuple(Line(event.time_ms, stream.host, event.text) for event in new)


def _host(stream: str) -> str:
    """Return the host of a stream: `algo-1` of `<job>/algo-1-1700000000`."""
    return stream.rsplit("/", 1)[-1].rsplit("-", 1)[0]
