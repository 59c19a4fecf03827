"""Topics, queues, rules and HTTP endpoints, made and changed by a stack."""

from __future__ import annotations

import json
from typing import Any

import pytest
from botocore.exceptions import ClientError

from tests.conftest import LocalAws
from tests.localaws.cloudformation.stack_of_test import Resources, Stack

TARGET = {
    "Id": "Queue",
    "Arn": {"Fn::GetAtt": ["Queue", "Arn"]},
    "RetryPolicy": {"MaximumEventAgeInSeconds": 600, "MaximumRetryAttempts": 3},
    "InputTransformer": {"InputPathsMap": {"job": "$.detail.job"}, "InputTemplate": '"<job>"'},
}
TAG = {"Key": "Project", "Value": "vision"}


def resource(kind: str, **properties: Any) -> dict[str, Any]:
    return {"Type": f"AWS::{kind}", "Properties": properties}


def queue(**properties: Any) -> Resources:
    return {
        "Queue": resource("SQS::Queue", SqsManagedSseEnabled=True, **properties),
        "Policy": resource(
            "SQS::QueuePolicy",
            Queues=[{"Ref": "Queue"}],
            PolicyDocument={
                "Version": "2012-10-17",
                "Statement": [
                    {
                        "Effect": "Allow",
                        "Principal": {"Service": "events.amazonaws.com"},
                        "Action": "sqs:SendMessage",
                        "Resource": {"Fn::GetAtt": ["Queue", "Arn"]},
                    }
                ],
            },
        ),
    }


def rule(*sources: str, targets: list[dict[str, Any]]) -> Resources:
    pattern = {"source": list(sources)}
    return {"Rule": resource("Events::Rule", EventPattern=pattern, Targets=targets, Tags=[TAG])}


def drifts(stack: Stack) -> dict[str, str]:
    """Return logical id to status, of what can be looked at."""
    stack.cloudformation.detect_stack_drift(StackName=stack.name)
    found = stack.cloudformation.describe_stack_resource_drifts(StackName=stack.name)
    return {
        each["LogicalResourceId"]: each["StackResourceDriftStatus"]
        for each in found["StackResourceDrifts"]
        if each["StackResourceDriftStatus"] != "NOT_CHECKED"
    }


def test_a_rule_brings_events_to_a_queue(local_aws: LocalAws, stack: Stack) -> None:
    events, sqs = local_aws.client("events"), local_aws.client("sqs")
    made = stack.create({**queue(MessageRetentionPeriod=600), **rule("of.test", targets=[TARGET])})
    assert made["StackStatus"] == "CREATE_COMPLETE", made.get("StackStatusReason")
    url = stack.ids()["Queue"]
    shown = sqs.get_queue_attributes(QueueUrl=url, AttributeNames=["All"])["Attributes"]
    assert (shown["SqsManagedSseEnabled"], shown["MessageRetentionPeriod"]) == ("true", "600")
    assert "sqs:SendMessage" in shown["Policy"]

    detail = json.dumps({"job": "first"})
    entry = {"Source": "of.test", "DetailType": "Test", "Detail": detail}
    events.put_events(Entries=[entry, {**entry, "Source": "of.others"}])
    received = sqs.receive_message(QueueUrl=url, MaxNumberOfMessages=10)["Messages"]
    assert [json.loads(each["Body"]) for each in received] == ["first"]

    assert drifts(stack) == {"Queue": "IN_SYNC", "Rule": "IN_SYNC"}
    stack.update({**queue(MessageRetentionPeriod=900), **rule("another", targets=[])})
    name = stack.ids()["Rule"]
    assert json.loads(events.describe_rule(Name=name)["EventPattern"]) == {"source": ["another"]}
    assert events.list_targets_by_rule(Rule=name)["Targets"] == []
    stack.delete()
    with pytest.raises(ClientError, match="does not exist"):
        events.describe_rule(Name=name)


def test_a_topic_has_a_policy_and_subscribers(local_aws: LocalAws, stack: Stack) -> None:
    sns = local_aws.client("sns")
    topic = {"Ref": "Topic"}
    policy = {"Version": "2012-10-17", "Statement": [{"Sid": "mine", "Effect": "Deny"}]}
    resources = {
        "Topic": resource("SNS::Topic", DisplayName="Jobs", KmsMasterKeyId="key", Tags=[TAG]),
        "Policy": resource("SNS::TopicPolicy", Topics=[topic], PolicyDocument=policy),
        "Jo": resource(
            "SNS::Subscription", TopicArn=topic, Protocol="email", Endpoint="jo@example.org"
        ),
    }
    made = stack.create(resources)
    assert made["StackStatus"] == "CREATE_COMPLETE", made.get("StackStatusReason")
    arn = stack.ids()["Topic"]
    shown = sns.get_topic_attributes(TopicArn=arn)["Attributes"]
    assert (shown["DisplayName"], shown["KmsMasterKeyId"]) == ("Jobs", "key")
    assert json.loads(shown["Policy"]) == policy
    [subscribed] = sns.list_subscriptions_by_topic(TopicArn=arn)["Subscriptions"]
    assert (subscribed["Protocol"], subscribed["Endpoint"]) == ("email", "jo@example.org")
    assert drifts(stack) == {"Topic": "IN_SYNC", "Jo": "IN_SYNC"}

    stack.update({**resources, "Topic": resource("SNS::Topic", DisplayName="Models")})
    assert stack.ids()["Topic"] == arn
    assert sns.get_topic_attributes(TopicArn=arn)["Attributes"]["DisplayName"] == "Models"
    stack.delete()
    with pytest.raises(ClientError, match="NotFound"):
        sns.get_topic_attributes(TopicArn=arn)


def webhook(secret_arn: str, header: str = "Authorization", key: str = "url") -> Resources:
    read = f"{{{{resolve:secretsmanager:{secret_arn}:SecretString:"
    api_key = {"ApiKeyName": header, "ApiKeyValue": f"{read}token::}}}}"}
    return {
        "Connection": resource(
            "Events::Connection",
            AuthorizationType="API_KEY",
            AuthParameters={"ApiKeyAuthParameters": api_key},
        ),
        "Destination": resource(
            "Events::ApiDestination",
            ConnectionArn={"Fn::GetAtt": ["Connection", "Arn"]},
            HttpMethod="POST",
            InvocationEndpoint=f"{read}{key}}}}}",
            InvocationRateLimitPerSecond=5,
        ),
    }


def test_an_endpoint_is_what_a_secret_says(local_aws: LocalAws, stack: Stack) -> None:
    events = local_aws.client("events")
    value = {"url": "https://hooks.example.org/x", "token": "Bearer abc"}
    secret = local_aws.client("secretsmanager").create_secret(
        Name="webhook-of-test", SecretString=json.dumps(value)
    )["ARN"]
    made = stack.create(webhook(secret))
    assert made["StackStatus"] == "CREATE_COMPLETE", made.get("StackStatusReason")
    ids = stack.ids()
    shown = events.describe_api_destination(Name=ids["Destination"])
    connection = events.describe_connection(Name=ids["Connection"])
    assert shown["InvocationEndpoint"] == "https://hooks.example.org/x"
    assert shown["ConnectionArn"] == connection["ConnectionArn"]
    kept = local_aws.client("secretsmanager").get_secret_value(SecretId=connection["SecretArn"])
    assert "Bearer abc" in kept["SecretString"]
    template = stack.cloudformation.get_template(StackName=stack.name)["TemplateBody"]
    assert "hooks.example.org" not in str(template)
    assert drifts(stack) == {}

    stack.update(webhook(secret, header="X-Token"))
    assert stack.ids() == ids
    stack.delete()
    with pytest.raises(ClientError, match="does not exist"):
        events.describe_connection(Name=ids["Connection"])


def test_a_key_that_the_secret_has_not_fails_the_stack(local_aws: LocalAws, stack: Stack) -> None:
    secret = local_aws.client("secretsmanager").create_secret(
        Name="webhook-without-url", SecretString=json.dumps({"token": "abc"})
    )["ARN"]
    made = stack.create(webhook(secret))
    assert made["StackStatus"] == "ROLLBACK_COMPLETE"
    events = stack.cloudformation.describe_stack_events(StackName=stack.name)["StackEvents"]
    assert any("JSONKey in SecretString: url" in e.get("ResourceStatusReason", "") for e in events)
