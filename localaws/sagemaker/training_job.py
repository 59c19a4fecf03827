"""A training job that lives as on AWS, but in which nothing trains."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from typing import Any

import botocore.session
from moto.sagemaker.exceptions import ValidationError

from localaws.sagemaker.stages import ENDING_TAG, OTHER_S, Course, Stage

LINE_S = 0.5
"""Between two lines of a host while the job says that it trains."""

SPOT_SHARE = 0.3
"""Of the time of a job on spot capacity that counts as paid for; any would do."""

_STATUSES = {
    "Completed": "Completed",
    "Failed": "Failed",
    "Stopped": "Stopped",
    "MaxRuntimeExceeded": "Stopped",
    "Stopping": "Stopping",
}
"""TrainingJobStatus by SecondaryStatus; all others are of a job that is in progress."""

_REASONS = {
    "Failed": f"AlgorithmError: algo-1: the tag {ENDING_TAG} asks for a failure, exit code: 1",
    "CapacityError": "CapacityError: Unable to provision requested ML compute capacity. Please "
    "retry using a different ML instance type.",
}


@dataclass(frozen=True)
class WrittenLine:
    """A line of a host; the time is in seconds since 1970."""

    stream: str
    time_s: float
    text: str


class TrainingJob:
    """One training job; `training_job_name`, `arn` and `tags` are moto's names."""

    def __init__(self, name: str, arn: str, request: dict[str, Any]) -> None:
        self.training_job_name = name
        self.arn = arn
        self.tags: list[dict[str, str]] = request.get("Tags") or []
        self.lines_kept = 0
        """How many of its lines CloudWatch has."""
        self._request = request
        self._course = _course(request)
        self._made_s = time.time()
        self._stopped_s: float | None = None

    @property
    def creation_time(self) -> datetime:
        return _at(self._made_s)

    @property
    def training_job_status(self) -> str:
        return _STATUSES.get(self._reached()[-1].status, "InProgress")

    def stop(self) -> None:
        """Ask it to end.

        Raises:
            ValidationError: It has ended.
        """
        # In the words of the service: https://github.com/awslabs/benchmark-ai/issues/928
        if self._reached()[-1].is_end:
            raise ValidationError(
                message="The request was rejected because the training job is in status "
                f"{self.training_job_status}."
            )
        if self._stopped_s is None:
            self._stopped_s = time.time() - self._made_s

    def lines(self) -> Iterator[WrittenLine]:
        """Yield what its hosts have written by now, in the order of time."""
        now_s = time.time()
        for number, stage in enumerate(self._reached()):
            if stage.status == "Training":
                yield from self._lines_of(stage, number, now_s)

    def _lines_of(self, stage: Stage, number: int, now_s: float) -> Iterator[WrittenLine]:
        assert stage.end_s is not None
        start_s = self._made_s + stage.start_s
        # A host that starts again begins another stream.
        hosts = range(1, self._request.get("ResourceConfig", {}).get("InstanceCount", 1) + 1)
        streams = [
            f"{self.training_job_name}/algo-{host}-{int(self._made_s) + number}" for host in hosts
        ]
        for stream in streams:
            yield WrittenLine(
                stream,
                start_s,
                "Local AWS runs no container: nothing trains here, and these "
                "lines stand for those of a job",
            )
        line = 1
        while (at_s := start_s + line * LINE_S) < min(now_s, self._made_s + stage.end_s):
            for stream in streams:
                yield WrittenLine(stream, at_s, f"line {line}")
            line += 1

    def _reached(self) -> list[Stage]:
        age_s = time.time() - self._made_s
        return [stage for stage in self._course.stages(self._stopped_s) if stage.start_s <= age_s]

    def summary(self) -> dict[str, Any]:
        """Return what a list shows."""
        names = ("TrainingJobName", "TrainingJobArn", "CreationTime", "LastModifiedTime")
        more = ("TrainingEndTime", "TrainingJobStatus", "SecondaryStatus")
        described = self.to_dict()
        return {name: described[name] for name in (*names, *more) if name in described}

    def to_dict(self) -> dict[str, Any]:
        """Return what DescribeTrainingJob answers."""
        reached = self._reached()
        last = reached[-1]
        given = {name: value for name, value in self._request.items() if name in _answered()}
        return given | {
            "TrainingJobName": self.training_job_name,
            "TrainingJobArn": self.arn,
            "TrainingJobStatus": self.training_job_status,
            "SecondaryStatus": last.status,
            "CreationTime": self.creation_time,
            "LastModifiedTime": _at(self._made_s + last.start_s),
            "SecondaryStatusTransitions": [self._transition(stage, last) for stage in reached],
            **self._times(reached),
            **self._outcome(last),
        }

    def gen_response_object(self) -> dict[str, Any]:
        """Return what Search answers; the name is moto's."""
        return {**self.to_dict(), "Tags": self.tags}

    def _transition(self, stage: Stage, last: Stage) -> dict[str, Any]:
        found: dict[str, Any] = {
            "Status": stage.status,
            "StartTime": _at(self._made_s + stage.start_s),
            "StatusMessage": stage.message,
        }
        if stage is not last or stage.is_end:
            found["EndTime"] = _at(self._made_s + (stage.end_s or stage.start_s))
        return found

    def _times(self, reached: list[Stage]) -> dict[str, Any]:
        # Billed from the first stage after the instances are there.
        started = next((stage for stage in reached if stage.status == "Downloading"), None)
        if started is None:
            return {}
        times: dict[str, Any] = {"TrainingStartTime": _at(self._made_s + started.start_s)}
        last = reached[-1]
        if last.is_end:
            training_s = max(1, round(last.start_s - started.start_s))
            share = SPOT_SHARE if self._request.get("EnableManagedSpotTraining") else 1
            times |= {
                "TrainingEndTime": _at(self._made_s + last.start_s),
                "TrainingTimeInSeconds": training_s,
                "BillableTimeInSeconds": max(1, round(training_s * share)),
            }
        return times

    def _outcome(self, last: Stage) -> dict[str, Any]:
        if last.status == "Failed":
            return {"FailureReason": _REASONS[self._course.ending]}
        if last.status == "Completed":
            output = self._request["OutputDataConfig"]["S3OutputPath"].rstrip("/")
            # Named, as on AWS, but not there: nothing was trained.
            artifact = f"{output}/{self.training_job_name}/output/model.tar.gz"
            return {"ModelArtifacts": {"S3ModelArtifacts": artifact}}
        return {}


def _course(request: dict[str, Any]) -> Course:
    """Return what becomes of a job: the tags are meant for the one that trains."""
    specification = request.get("AlgorithmSpecification", {})
    if specification.get("ContainerArguments"):
        # It makes folders, before a job of the same tags.
        return Course("Completed", OTHER_S)
    return Course.of({tag["Key"]: tag["Value"] for tag in request.get("Tags") or []})


@cache
def _answered() -> frozenset[str]:
    """Return the names of what DescribeTrainingJob answers, as botocore has them."""
    model = botocore.session.get_session().get_service_model("sagemaker")
    answer: Any = model.shape_for("DescribeTrainingJobResponse")
    return frozenset(answer.members)


def _at(time_s: float) -> datetime:
    return datetime.fromtimestamp(time_s, UTC)
