"""What a description of a job says."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import botocore.session
import pytest

from tests.training.platforms.sagemaker.fake_aws import description
from training.platforms.sagemaker.state import JobState, read_state
from training.prices.usage import NotKnown, Usage

NOW = datetime(2026, 1, 2, tzinfo=UTC)


def state(status: str = "InProgress", **more: Any) -> JobState:
    return read_state({"TrainingJobName": "j", **description(status, "Training", **more)})


def test_every_status_of_the_service_is_known() -> None:
    model = botocore.session.get_session().get_service_model("sagemaker")
    known = {name: state(name).status for name in model.shape_for("TrainingJobStatus").enum}
    assert known == {
        "InProgress": "running",
        "Stopping": "stopping",
        "Completed": "completed",
        "Failed": "failed",
        "Stopped": "stopped",
        "Deleting": "stopped",
    }


@pytest.mark.parametrize(
    ("status", "has_ended"),
    [
        ("InProgress", False),
        ("Stopping", False),
        ("NotThoughtOfYet", False),
        ("Completed", True),
        ("Failed", True),
        ("Stopped", True),
    ],
)
def test_only_some_are_ends(status: str, has_ended: bool) -> None:
    found = state(status, LastModifiedTime=NOW)
    assert (found.has_ended, found.ended) == (has_ended, NOW if has_ended else None)


@pytest.mark.parametrize(
    ("times", "said"),
    [
        ({}, None),
        ({"BillableTimeInSeconds": 3600}, "billed: 3,600 s x 4 x ml.p3.16xlarge"),
        (
            {
                "BillableTimeInSeconds": 100,
                "TrainingTimeInSeconds": 500,
                "EnableManagedSpotTraining": True,
            },
            # The example of the API's reference.
            "billed: 100 s x 4 x ml.p3.16xlarge (spot saved 80%)",
        ),
    ],
)
def test_billing_is_the_time_of_each_instance(times: dict[str, Any], said: str | None) -> None:
    assert state("Completed", hosts=4, **times).billing() == said


ARN = "arn:aws:sagemaker:us-west-2:123456789012:training-job/j"


@pytest.mark.parametrize(
    ("status", "times", "seconds"),
    [
        ("InProgress", {}, 0),
        # While it runs, until now; then until its end; and what SageMaker says before all.
        ("InProgress", {"TrainingStartTime": NOW - timedelta(hours=2)}, 7200),
        (
            "Failed",
            {"TrainingStartTime": NOW - timedelta(hours=2), "TrainingEndTime": NOW},
            7200,
        ),
        (
            "Completed",
            {"TrainingStartTime": NOW - timedelta(hours=2), "BillableTimeInSeconds": 100},
            100,
        ),
    ],
)
def test_what_is_used_is_what_is_billed(status: str, times: dict[str, Any], seconds: float) -> None:
    found = state(status, hosts=4, TrainingJobArn=ARN, **times)
    later = NOW + timedelta(days=1) if found.has_ended else NOW
    assert found.usage(later) == (
        Usage(
            service="sagemaker-training",
            region="us-west-2",
            instance_type="ml.p3.16xlarge",
            count=4,
            seconds=seconds,
        ),
    )


def test_the_capacity_of_a_training_plan_is_paid_for_with_the_plan() -> None:
    resources = {"InstanceType": "ml.p5.48xlarge", "TrainingPlanArn": "arn:plan"}
    assert state(ResourceConfig=resources).usage(NOW) == NotKnown(
        "its capacity is paid for with the training plan arn:plan"
    )


def channel(path: str) -> dict[str, Any]:
    return {"DataSource": {"FileSystemDataSource": {"DirectoryPath": path}}}


S3 = {"S3Uri": "s3://bucket/a/log-run-7"}


@pytest.mark.parametrize(
    ("more", "run_name", "checkpoints"),
    [
        ({"CheckpointConfig": S3}, "run-7", "s3://bucket/a/log-run-7"),
        ({"InputDataConfig": [channel("/in/train"), channel("/out/log-run-8")]}, "run-8", None),
        # With spot capacity there is a place on S3 too, and nothing in it.
        ({"InputDataConfig": [channel("/m/out/log-run-8")], "CheckpointConfig": S3}, "run-8", None),
        ({}, None, None),
    ],
)
def test_the_log_folder_names_the_run(
    more: dict[str, Any], run_name: str | None, checkpoints: str | None
) -> None:
    found = state(**more)
    assert (found.run_name, found.checkpoints) == (run_name, checkpoints)


FILES = {"FileSystemId": "fs-1", "DirectoryPath": "/m/out/log-run-8"}


@pytest.mark.parametrize(
    ("more", "log"),
    [
        ({"CheckpointConfig": S3}, "s3://bucket/a/log-run-7"),
        (
            {
                "InputDataConfig": [
                    channel("/in/train"),
                    {"DataSource": {"FileSystemDataSource": FILES}},
                ],
                "CheckpointConfig": S3,
            },
            "fs-1:/m/out/log-run-8",
        ),
        ({}, None),
    ],
)
def test_the_log_folder_is_told_with_its_file_system(more: dict[str, Any], log: str | None) -> None:
    assert state(**more).log == log


def test_the_model_is_there_once_the_job_has_completed() -> None:
    artifacts = {"ModelArtifacts": {"S3ModelArtifacts": "s3://b/model.tar.gz"}}
    assert state("InProgress", **artifacts).model is None
    assert state("Completed", **artifacts).model == "s3://b/model.tar.gz"
