"""Training jobs and their lines through boto3, on a local AWS."""

from __future__ import annotations

import time
import uuid
from typing import Any

import pytest
from botocore.exceptions import ClientError

from tests.conftest import LocalAws

GROUP = "/aws/sagemaker/TrainingJobs"


def body(name: str) -> dict[str, Any]:
    return {
        "TrainingJobName": name,
        "RoleArn": "arn:aws:iam::123456789012:role/training",
        "AlgorithmSpecification": {"TrainingImage": "x:1", "TrainingInputMode": "File"},
        "OutputDataConfig": {"S3OutputPath": "s3://bucket/out"},
        "ResourceConfig": {"InstanceType": "ml.p3.16xlarge", "InstanceCount": 1},
        "StoppingCondition": {"MaxRuntimeInSeconds": 100},
        "Tags": [
            {"Key": "Project", "Value": "mask-rcnn"},
            {"Key": "localaws:seconds", "Value": "600"},
        ],
    }


def test_a_job_with_its_tags_lines_and_errors(local_aws: LocalAws) -> None:
    sagemaker, logs = local_aws.client("sagemaker"), local_aws.client("logs")
    name = f"job-{uuid.uuid4().hex[:8]}"
    arn = sagemaker.create_training_job(**body(name))["TrainingJobArn"]
    with pytest.raises(ClientError, match=r"must be unique.*already exists") as taken:
        sagemaker.create_training_job(**body(name))
    assert taken.value.response["Error"]["Code"] == "ResourceInUse"
    tags = sagemaker.list_tags(ResourceArn=arn)["Tags"]
    assert {"Key": "Project", "Value": "mask-rcnn"} in tags
    found = sagemaker.search(
        Resource="TrainingJob",
        SearchExpression={
            "Filters": [{"Name": "TrainingJobName", "Operator": "Equals", "Value": name}]
        },
    )["Results"]
    assert [each["TrainingJob"]["TrainingJobArn"] for each in found] == [arn]
    events = wait_for_lines(logs, name)
    assert "nothing trains here" in events[0]["message"]
    sagemaker.stop_training_job(TrainingJobName=name)
    assert sagemaker.describe_training_job(TrainingJobName=name)["TrainingJobStatus"] == "Stopping"
    with pytest.raises(ClientError, match="Requested resource not found"):
        sagemaker.describe_training_job(TrainingJobName=f"{name}-other")


def wait_for_lines(logs: Any, name: str) -> list[dict[str, Any]]:
    """Return the lines of a job's first host; it takes two seconds until there are some."""
    for _ in range(100):
        try:
            streams = logs.describe_log_streams(logGroupName=GROUP, logStreamNamePrefix=f"{name}/")
        except logs.exceptions.ResourceNotFoundException:
            streams = {"logStreams": []}
        for stream in streams["logStreams"]:
            answer = logs.get_log_events(
                logGroupName=GROUP, logStreamName=stream["logStreamName"], startFromHead=True
            )
            return list(answer["events"])
        time.sleep(0.1)
    raise AssertionError("no lines")
