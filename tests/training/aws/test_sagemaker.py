"""Training jobs, as SageMaker describes them."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any

import boto3
import pytest
from botocore.stub import Stubber

from training.aws.errors import AwsRefused
from training.aws.sagemaker import JobPage, SageMaker


@cache
def client() -> Any:
    return boto3.client(
        "sagemaker",
        region_name="us-east-1",
        aws_access_key_id="key",
        aws_secret_access_key="secret",
    )


@pytest.fixture
def stubber() -> Iterator[Stubber]:
    with Stubber(client()) as stubbed:
        yield stubbed
        stubbed.assert_no_pending_responses()


# As SageMaker answers, as its model says, and as moto does.
ABSENT = [
    ("ValidationException", "Requested resource not found."),
    ("ResourceNotFound", "x"),
    ("ValidationException", "Could not find training job 'arn:aws:…'."),
]


@pytest.mark.parametrize(("code", "message"), ABSENT)
def test_a_job_that_is_not_there_is_none(stubber: Stubber, code: str, message: str) -> None:
    asked = {"TrainingJobName": "job-1"}
    stubber.add_client_error("describe_training_job", code, message, expected_params=asked)
    assert SageMaker(client()).training_job("job-1") is None


@pytest.mark.parametrize("code", ["ValidationException", "AccessDeniedException"])
def test_other_refusals_are_errors(stubber: Stubber, code: str) -> None:
    stubber.add_client_error("describe_training_job", code, "No.")
    with pytest.raises(AwsRefused) as raised:
        SageMaker(client()).training_job("job-1")
    assert raised.value.action == "sagemaker:DescribeTrainingJob"


def test_jobs_are_listed_newest_first_page_by_page(stubber: Stubber) -> None:
    order = {"SortBy": "CreationTime", "SortOrder": "Descending", "MaxResults": 100}
    first, second = {"TrainingJobName": "b"}, {"TrainingJobName": "a"}
    summary = {
        "TrainingJobArn": "arn:aws:sagemaker:us-east-1:1:training-job/x",
        "CreationTime": 0,
        "TrainingJobStatus": "Completed",
    }
    stubber.add_response(
        "list_training_jobs",
        {"TrainingJobSummaries": [first | summary], "NextToken": "t"},
        order,
    )
    stubber.add_response(
        "list_training_jobs",
        {"TrainingJobSummaries": [second | summary]},
        order | {"NextToken": "t"},
    )
    page = SageMaker(client()).training_jobs()
    assert page == JobPage((first | summary,), "t")
    assert SageMaker(client()).training_jobs(page.token) == JobPage((second | summary,), None)


def test_an_experiment_is_made_as_it_is_asked_for(stubber: Stubber) -> None:
    body = {"ExperimentName": "trials", "Tags": [{"Key": "Project", "Value": "mask-rcnn"}]}
    stubber.add_response("create_experiment", {}, body)
    SageMaker(client()).create_experiment(body)
    stubber.add_client_error("create_experiment", "AccessDeniedException", "No.")
    with pytest.raises(AwsRefused) as raised:
        SageMaker(client()).create_experiment(body)
    assert raised.value.action == "sagemaker:CreateExperiment"
