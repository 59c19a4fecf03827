"""Which events are told, and what happens to those that cannot be brought."""

from __future__ import annotations

import json
from typing import Any

import aws_cdk as cdk
import pytest
from aws_cdk.assertions import Match, Template
from moto.events.models import EventPattern

from stacks.constructs.event_target import EventTarget
from stacks.constructs.job_events import JobEvents
from stacks.constructs.own_job_events import of_this_project
from stacks.constructs.sagemaker_job_events import of_sagemaker
from stacks.settings.notifications import ENDS, JobChange
from tests.stacks.constructs.own_events import own_event_of
from tests.stacks.constructs.sagemaker_events import (
    COMPLETED,
    FAILED,
    RUNNING,
    STOPPED,
    TRAINING_ROLE,
    event_of,
)

TOPIC = EventTarget(name="Topic", arn="arn:topic", role_arn="arn:publisher", audience="people")
HOOK = EventTarget(name="Webhook", arn="arn:hook", role_arn="arn:caller", audience="programs")


def made(changes: tuple[JobChange, ...] = ENDS) -> Template:
    stack = cdk.Stack(cdk.App(builtin_cloud_formation_validation=False), "NotificationStack")
    kinds = [
        of_sagemaker(training_role_arn=TRAINING_ROLE, changes=changes),
        of_this_project(changes),
    ]
    JobEvents(stack, "Jobs", kinds=kinds, targets=[TOPIC, HOOK])
    return Template.from_stack(stack)


def rules(template: Template) -> dict[str, dict[str, Any]]:
    """Return logical id to properties."""
    found = template.find_resources("AWS::Events::Rule")
    return {logical_id: rule["Properties"] for logical_id, rule in found.items()}


def told(changes: tuple[JobChange, ...], event: dict[str, Any]) -> list[str]:
    """Return what people are sent by each rule that takes the event."""
    return [
        "with reason"
        if "<reason>" in each["Targets"][0]["InputTransformer"]["InputTemplate"]
        else "plain"
        for each in rules(made(changes)).values()
        if EventPattern.load(deployed(each["EventPattern"])).matches_event(event)  # type: ignore[arg-type]
    ]


def deployed(pattern: dict[str, Any]) -> str:
    """Return a pattern as CloudFormation makes it."""
    return json.dumps(pattern).replace('{"Ref": "AWS::AccountId"}', '"123456789012"')


@pytest.mark.parametrize(
    ("state", "expected"),
    [(COMPLETED, ["plain"]), (STOPPED, ["plain"]), (FAILED, ["with reason"]), (RUNNING, [])],
)
def test_each_end_of_a_job_is_told_once(state: dict[str, str], expected: list[str]) -> None:
    assert told(ENDS, event_of(state)) == expected


def test_a_failure_without_a_reason_is_told_all_the_same() -> None:
    state = {name: value for name, value in FAILED.items() if name != "FailureReason"}
    assert told(ENDS, event_of(state)) == ["plain"]


@pytest.mark.parametrize("changes", [("started",), ("failed", "started")])
def test_a_job_has_started_when_it_trains(changes: tuple[JobChange, ...]) -> None:
    assert told(changes, event_of(RUNNING)) == ["plain"]
    for step in ("Starting", "Downloading", "Uploading"):
        assert told(changes, event_of({**RUNNING, "SecondaryStatus": step})) == []
    assert told(changes, event_of(COMPLETED)) == []


def test_only_what_is_asked_for_is_told() -> None:
    assert told(("failed",), event_of(FAILED)) == ["with reason"]
    assert told(("failed",), event_of(STOPPED)) == []


@pytest.mark.parametrize(
    "other",
    [
        event_of(COMPLETED, RoleArn="arn:aws:iam::123456789012:role/AnotherProject"),
        {**event_of(COMPLETED), "source": "someone.else"},
        {**event_of(COMPLETED), "detail-type": "SageMaker Processing Job State Change"},
    ],
    ids=["another role", "another source", "another kind"],
)
def test_jobs_of_others_are_not_told(other: dict[str, Any]) -> None:
    assert told(("started", *ENDS), other) == []


@pytest.mark.parametrize(
    ("state", "reason", "expected"),
    [
        ("completed", "completed", ["plain"]),
        ("failed", "exit code 1", ["with reason"]),
        ("failed", None, ["plain"]),
        ("stopped", "stopped as asked", ["with reason"]),
        ("checkpointed", "stopped as asked", ["with reason"]),
        ("running", None, []),
    ],
)
def test_each_end_of_a_job_on_ec2_is_told_once(
    state: str, reason: str | None, expected: list[str]
) -> None:
    assert told(ENDS, own_event_of(state, reason)) == expected


def test_a_job_on_ec2_is_told_as_it_is_asked_for() -> None:
    assert told(("started",), own_event_of("running")) == ["plain"]
    assert told(("started",), own_event_of("completed")) == []
    assert told(("failed",), own_event_of("stopped", "as asked")) == []
    assert told(("stopped",), own_event_of("checkpointed", "as asked")) == ["with reason"]


@pytest.mark.parametrize(
    "other",
    [
        own_event_of("completed", source="another.project"),
        own_event_of("completed", **{"detail-type": "Something Else"}),
        own_event_of("completed", account="210987654321"),
        own_event_of("completed", detail={"job": "x", "platform": "moon", "status": "completed"}),
        own_event_of("completed", detail={"job": "x", "platform": "ec2", "status": "lost"}),
    ],
    ids=["another source", "another kind", "another account", "no platform", "no status"],
)
def test_what_is_no_event_of_this_account_and_kind_is_not_told(other: dict[str, Any]) -> None:
    assert told(("started", *ENDS), other) == []


def test_every_target_is_tried_for_hours_and_then_the_queue_keeps_the_event() -> None:
    template = made()
    [queue_id] = template.find_resources("AWS::SQS::Queue")
    queue_arn = {"Fn::GetAtt": [queue_id, "Arn"]}
    for rule in rules(template).values():
        assert [target["Id"] for target in rule["Targets"]] == ["Topic", "Webhook"]
        for target in rule["Targets"]:
            assert target["RetryPolicy"] == {
                "MaximumEventAgeInSeconds": 14400,
                "MaximumRetryAttempts": 185,
            }
            assert target["DeadLetterConfig"] == {"Arn": queue_arn}
    template.has_resource_properties(
        "AWS::SQS::Queue", {"SqsManagedSseEnabled": True, "MessageRetentionPeriod": 1209600}
    )


def test_only_these_rules_fill_the_queue_and_over_tls_alone() -> None:
    template = made()
    arns = [{"Fn::GetAtt": [rule_id, "Arn"]} for rule_id in rules(template)]
    assert len(arns) == 4
    template.has_resource_properties(
        "AWS::SQS::QueuePolicy",
        {
            "PolicyDocument": {
                "Version": "2012-10-17",
                "Statement": [
                    Match.object_like(
                        {
                            "Effect": "Deny",
                            "Action": "sqs:*",
                            "Condition": {"Bool": {"aws:SecureTransport": "false"}},
                        }
                    ),
                    Match.object_like(
                        {
                            "Effect": "Allow",
                            "Action": "sqs:SendMessage",
                            "Principal": {"Service": "events.amazonaws.com"},
                            "Condition": {"ArnEquals": {"aws:SourceArn": arns}},
                        }
                    ),
                ],
            }
        },
    )
