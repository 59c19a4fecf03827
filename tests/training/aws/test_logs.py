"""Lines, as CloudWatch Logs keeps them."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any

import boto3
import pytest
from botocore.stub import Stubber

from training.aws.errors import AwsRefused
from training.aws.logs import Event, Logs, LogTokenExpired, Page

GROUP = "/aws/sagemaker/TrainingJobs"
FIRST = {"logGroupName": GROUP, "logStreamName": "s", "startTime": 7, "startFromHead": True}
EVENTS = [{"timestamp": 7, "message": "one"}, {"timestamp": 8, "message": "two"}]


@cache
def client() -> Any:
    return boto3.client(
        "logs", region_name="us-east-1", aws_access_key_id="key", aws_secret_access_key="secret"
    )


@pytest.fixture
def stubber() -> Iterator[Stubber]:
    with Stubber(client()) as stubbed:
        yield stubbed
        stubbed.assert_no_pending_responses()


def test_all_streams_of_a_prefix_are_found(stubber: Stubber) -> None:
    asked = {"logGroupName": GROUP, "logStreamNamePrefix": "job-1/"}
    stubber.add_response(
        "describe_log_streams",
        {"logStreams": [{"logStreamName": "job-1/a"}], "nextToken": "t"},
        asked,
    )
    stubber.add_response(
        "describe_log_streams",
        {"logStreams": [{"logStreamName": "job-1/b"}]},
        asked | {"nextToken": "t"},
    )
    assert Logs(client()).streams(GROUP, "job-1/") == ["job-1/a", "job-1/b"]


def test_a_group_that_is_not_there_yet_has_no_streams(stubber: Stubber) -> None:
    stubber.add_client_error("describe_log_streams", "ResourceNotFoundException")
    assert Logs(client()).streams(GROUP, "job-1/") == []


def test_a_page_begins_at_a_time_or_where_the_one_before_ended(stubber: Stubber) -> None:
    stubber.add_response("get_log_events", {"events": EVENTS, "nextForwardToken": "f/2"}, FIRST)
    stubber.add_response(
        "get_log_events",
        {"events": [], "nextForwardToken": "f/2"},
        FIRST | {"nextToken": "f/2"},
    )
    logs = Logs(client())
    page = logs.page(GROUP, "s", token=None, since_ms=7)
    assert page == Page((Event(7, "one"), Event(8, "two")), "f/2")
    assert logs.page(GROUP, "s", token="f/2", since_ms=7) == Page((), "f/2")


def test_a_token_that_is_no_longer_known_is_told_apart(stubber: Stubber) -> None:
    for _ in range(2):
        stubber.add_client_error("get_log_events", "InvalidParameterException", "nextToken")
    logs = Logs(client())
    with pytest.raises(LogTokenExpired):
        logs.page(GROUP, "s", token="f/2", since_ms=7)
    with pytest.raises(AwsRefused):
        logs.page(GROUP, "s", token=None, since_ms=7)
