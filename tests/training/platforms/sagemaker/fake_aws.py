"""A training job and its lines, as clients show them at one moment of a test's own clock."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, cast

from tests.training.platforms.sagemaker.clockwork import Clockwork
from training.aws.clients import Clients
from training.aws.errors import AwsRefused
from training.aws.logs import Event, LogTokenExpired, Page
from training.errors import AwsError
from training.platforms.common.patience import Patience
from training.platforms.sagemaker.log_reader import GROUP

START_S = 1_700_000_000.0


def refused(code: str, message: str = "No", *, status: int = 400) -> AwsRefused:
    """Return what a service answered, as clients raise it."""
    return AwsRefused(
        f"{message} ({code})",
        operation="DescribeTrainingJob",
        code=code,
        request_id="r",
        status=status,
    )


@dataclass(frozen=True)
class Written:
    """A line, and when CloudWatch has it."""

    time_ms: int
    text: str
    arrives_s: float = 0.0
    """Seconds of the clock."""


@dataclass
class FakeLogs:
    """CloudWatch: tokens are places in a stream, and pages are as long as it pleases."""

    clock: Clockwork
    lines: Mapping[str, Sequence[Written]]
    """By stream."""
    page_sizes: Sequence[int] = (1000,)
    """Of the pages, one after the other and from the beginning again; 0 is an empty page."""
    fails: Callable[[], None] = lambda: None
    """Raises where a request is to fail."""
    expires: Callable[[], bool] = lambda: False
    """Whether a token is no longer known."""
    pages: int = 0

    def streams(self, group: str, prefix: str) -> list[str]:
        self.fails()
        assert group == GROUP
        return [name for name in self.lines if name.startswith(prefix) and self._visible(name)]

    def page(self, group: str, stream: str, *, token: str | None, since_ms: int) -> Page:
        self.fails()
        assert group == GROUP
        if token is not None and self.expires():
            raise LogTokenExpired
        visible = [line for line in self._visible(stream) if line.time_ms >= since_ms]
        # A token is of the request that began, as those of CloudWatch are.
        begin, at = (int(part) for part in (token or f"{since_ms}/0").split("/"))
        assert begin == since_ms
        size = self.page_sizes[self.pages % len(self.page_sizes)]
        self.pages += 1
        found = visible[at : at + size]
        is_empty_page = not found and at < len(visible)
        mark = f"{begin}/{at + len(found)}"
        events = tuple(Event(line.time_ms, line.text) for line in found)
        # An empty page before the end has another token than it was asked with.
        return Page(events, f"{begin}/0{at}" if is_empty_page and token == mark else mark)

    def _visible(self, stream: str) -> list[Written]:
        return [line for line in self.lines[stream] if line.arrives_s <= self.clock.now_s]


@dataclass
class FakeSageMaker:
    """SageMaker: what it says of the job goes by the clock."""

    clock: Clockwork
    says: Sequence[tuple[float, Mapping[str, Any]]]
    """From when on (seconds of the clock), and what."""
    fails: Callable[[], None] = lambda: None
    asked: int = 0

    def training_job(self, name: str) -> dict[str, Any] | None:
        self.fails()
        self.asked += 1
        said = [answer for since_s, answer in self.says if since_s <= self.clock.now_s]
        return {"TrainingJobName": name, **said[-1]} if said else None


@dataclass
class FakeS3:
    """S3: the keys of its objects."""

    keys: Sequence[str] = ()

    fails: Callable[[], None] = lambda: None

    def first_keys(self, bucket: str, prefix: str) -> list[str]:
        self.fails()
        return [key for key in self.keys if key.startswith(prefix)]


@dataclass
class FakeClients:
    """The clients that following a job uses."""

    sagemaker: FakeSageMaker
    logs: FakeLogs
    s3: FakeS3 = field(default_factory=FakeS3)


def as_clients(fake: FakeClients) -> Clients:
    return cast(Clients, fake)


def patience(fake: FakeClients, clock: Clockwork, told: list[str]) -> Patience:
    clients = as_clients(fake)
    return Patience(clients, reconnect=lambda: clients, tell=told.append, timer=clock.timer)


def stage(status: str, at_s: float = START_S, message: str = "") -> dict[str, Any]:
    """Return a secondary status of a job."""
    found = {"Status": status, "StartTime": datetime.fromtimestamp(at_s, UTC)}
    return {**found, "StatusMessage": message} if message else found


def description(status: str, *stages: str, hosts: int = 1, **more: Any) -> dict[str, Any]:
    """Return what DescribeTrainingJob answers."""
    return {
        "TrainingJobStatus": status,
        "SecondaryStatus": stages[-1],
        "ResourceConfig": {"InstanceType": "ml.p3.16xlarge", "InstanceCount": hosts},
        "SecondaryStatusTransitions": [stage(each) for each in stages],
        **more,
    }


class Failing:
    """Raises errors, one for each request, in their order; None lets a request pass."""

    def __init__(self, *errors: AwsError | None) -> None:
        self._errors = list(errors)

    def __call__(self) -> None:
        error = self._errors.pop(0) if self._errors else None
        if error is not None:
            raise error
