"""How a training job is doing, from what DescribeTrainingJob answers."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from training.jobs.info import Status
from training.prices.price_list import SAGEMAKER_TRAINING
from training.prices.usage import NotKnown, Usage

_STATUSES: Mapping[str, Status] = {
    "InProgress": "running",
    "Stopping": "stopping",
    "Completed": "completed",
    "Failed": "failed",
    "Stopped": "stopped",
    # Only a job that has ended can be deleted.
    "Deleting": "stopped",
}
"""By TrainingJobStatus.

https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_DescribeTrainingJob.html
"""

_LOG_FOLDER = re.compile(r"/log-([A-Za-z0-9-]+)(?=/|$)")


@dataclass(frozen=True)
class Transition:
    """One stage of a job."""

    status: str
    """SageMaker's secondary status, such as `Downloading`."""
    start: datetime
    message: str


@dataclass(frozen=True, kw_only=True)
class JobState:
    """A training job at one moment."""

    name: str
    status: Status
    secondary: str
    """SageMaker's secondary status, which says why a job stopped."""
    transitions: tuple[Transition, ...]
    failure_reason: str | None
    created: datetime | None
    ended: datetime | None
    instance_type: str
    instance_count: int
    training_plan: str | None
    """Its ARN, where the capacity was reserved, and paid for, with one."""
    region: str
    began: datetime | None
    """From then on it is billed."""
    training_s: int | None
    billable_s: int | None
    """Of each instance."""
    is_spot: bool
    model: str | None
    """Where the model is once the job has completed: s3://…"""
    log: str | None
    """Its log folder: <file system>:<path>, or s3://…"""
    run_name: str | None
    """What `--resume --name` takes: the part `<name>` of the log folder `log-<name>`."""
    checkpoints: str | None
    """s3://…, where SageMaker copies checkpoints; None where they are on a file system."""

    @property
    def has_ended(self) -> bool:
        return self.status in ("completed", "failed", "stopped")

    @property
    def can_resume(self) -> bool:
        """Whether it has a folder to save checkpoints to."""
        return self.run_name is not None or self.checkpoints is not None

    @property
    def machines(self) -> str:
        return f"{self.instance_count} x {self.instance_type}"

    def usage(self, now: datetime) -> tuple[Usage, ...] | NotKnown:
        """Return what is billed, by the time that SageMaker tells, or the clock while it runs.

        A job is billed from TrainingStartTime to TrainingEndTime:
        https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_DescribeTrainingJob.html
        """
        if self.training_plan is not None:
            return NotKnown(f"its capacity is paid for with the training plan {self.training_plan}")
        seconds: float = self.billable_s or 0
        if self.billable_s is None and self.began is not None:
            seconds = max(0.0, ((self.ended or now) - self.began).total_seconds())
        return (
            Usage(
                service=SAGEMAKER_TRAINING,
                region=self.region,
                instance_type=self.instance_type,
                count=self.instance_count,
                seconds=seconds,
            ),
        )

    def billing(self) -> str | None:
        """Return what the time was, for the user; None where SageMaker does not tell.

        The saving is the API's own formula: 1 - BillableTimeInSeconds / TrainingTimeInSeconds.
        """
        if self.billable_s is None:
            return None
        text = f"billed: {self.billable_s:,} s x {self.machines}"
        if self.is_spot and self.training_s:
            text += f" (spot saved {1 - self.billable_s / self.training_s:.0%})"
        return text


def read_state(description: Mapping[str, Any]) -> JobState:
    """Return what a description says; fields that are not there yet are None."""
    resources = description.get("ResourceConfig", {})
    copied_to = description.get("CheckpointConfig", {}).get("S3Uri")
    run_on_files = _run_name(_channel_paths(description))
    artifacts = description.get("ModelArtifacts", {}).get("S3ModelArtifacts")
    # A status that SageMaker has later is no end that is known; `secondary` tells more.
    status = _STATUSES.get(description["TrainingJobStatus"], "running")
    return JobState(
        name=description["TrainingJobName"],
        status=status,
        secondary=description.get("SecondaryStatus", ""),
        transitions=tuple(
            Transition(each["Status"], each["StartTime"], each.get("StatusMessage", ""))
            for each in description.get("SecondaryStatusTransitions", ())
        ),
        failure_reason=description.get("FailureReason"),
        created=description.get("CreationTime"),
        ended=_end(description, status),
        instance_type=resources.get("InstanceType", "?"),
        instance_count=resources.get("InstanceCount", 1),
        training_plan=resources.get("TrainingPlanArn"),
        region=_region(description.get("TrainingJobArn", "")),
        began=description.get("TrainingStartTime"),
        training_s=description.get("TrainingTimeInSeconds"),
        billable_s=description.get("BillableTimeInSeconds"),
        is_spot=description.get("EnableManagedSpotTraining", False),
        model=artifacts if status == "completed" else None,
        log=_log_folder(description) or copied_to,
        run_name=run_on_files or _run_name([copied_to or ""]),
        # With a log folder on a file system, that is where they are, wherever else there may be
        # a place for them.
        checkpoints=None if run_on_files else copied_to,
    )


def _region(arn: str) -> str:
    """Return the region of arn:<partition>:sagemaker:<region>:...; empty where there is none."""
    parts = arn.split(":")
    return parts[3] if len(parts) > 3 else ""


def _end(description: Mapping[str, Any], status: Status) -> datetime | None:
    if status not in ("completed", "failed", "stopped"):
        return None
    # A job that never began has no end of its training.
    found: datetime | None = description.get("TrainingEndTime", description.get("LastModifiedTime"))
    return found


def _channel_paths(description: Mapping[str, Any]) -> list[str]:
    sources = (each.get("DataSource", {}) for each in description.get("InputDataConfig", ()))
    return [each.get("FileSystemDataSource", {}).get("DirectoryPath", "") for each in sources]


def _log_folder(description: Mapping[str, Any]) -> str | None:
    """Return the log folder on a file system; None where the job has none there."""
    for channel in description.get("InputDataConfig", ()):
        files = channel.get("DataSource", {}).get("FileSystemDataSource", {})
        path = files.get("DirectoryPath", "")
        if _LOG_FOLDER.search(path):
            return f"{files.get('FileSystemId', '?')}:{path}"
    return None


def _run_name(paths: Sequence[str]) -> str | None:
    found = (_LOG_FOLDER.search(path) for path in paths)
    return next((match[1] for match in found if match), None)
