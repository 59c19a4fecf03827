"""What NotificationStack is made of, and that it is there only where it is asked for."""

from __future__ import annotations

import json
import re
from typing import Any

import aws_cdk as cdk
import pytest
from aws_cdk import aws_iam as iam
from aws_cdk.assertions import Match, Template
from syrupy.assertion import SnapshotAssertion
from syrupy.extensions.json import JSONSnapshotExtension

from stacks.notification import NotificationStack
from stacks.settings import Settings
from stacks.settings.notifications import STACK
from tests.stacks.cluster_template import STACK as CLUSTER
from tests.stacks.cluster_template import node_json
from tests.stacks.constructs.sagemaker_events import TRAINING_ROLE
from tests.stacks.matrix import MATRIX, STACKS, Synthesize
from tests.stacks.statements import statements

SECRET = "arn:aws:secretsmanager:us-west-2:123456789012:secret:hook-AbCdEf"
EMAILS = {"notify_emails": "jo@example.org,vision@example.org"}
WEBHOOK = {"notify_webhook_secret_arn": SECRET}


def made(context: dict[str, Any]) -> Template:
    app = cdk.App(builtin_cloud_formation_validation=False)
    elsewhere = cdk.Stack(app, "StorageStack")
    role = iam.Role.from_role_arn(elsewhere, "Role", TRAINING_ROLE, mutable=False)
    return Template.from_stack(
        NotificationStack(app, STACK, settings=Settings.from_context(context), training_role=role)
    )


def read(field: str) -> str:
    """Return what CloudFormation reads a field of the secret by."""
    return f"{{{{resolve:secretsmanager:{SECRET}:SecretString:{field}::}}}}"


def only(template: Template, resource_type: str) -> str:
    """Return the logical id of the only resource of a type."""
    [logical_id] = template.find_resources(resource_type)
    return logical_id


def test_it_is_there_only_where_somebody_is_to_be_told(synth: Synthesize) -> None:
    assert STACK not in synth("default").templates
    assert STACK in synth("notified").templates


@pytest.mark.parametrize("stack", [stack for stack in STACKS if stack != CLUSTER])
def test_the_other_stacks_are_the_same_with_it_and_without(stack: str, synth: Synthesize) -> None:
    assert synth("notified").templates[stack] == synth("default").templates[stack]


def test_of_the_cluster_it_changes_what_the_head_may_and_is_told(synth: Synthesize) -> None:
    before, after = synth("default").templates[CLUSTER], synth("notified").templates[CLUSTER]
    assert before.keys() == after.keys()
    assert {key for key in before if before[key] != after[key]} == {"Resources"}
    changed = {
        logical_id
        for logical_id, resource in before["Resources"].items()
        if after["Resources"][logical_id] != resource
    }
    assert sorted(re.sub(r"[0-9A-F]{8}$", "", each) for each in changed) == [
        "HeadGroupLaunch",
        "HeadNode",
    ]


def test_template_is_as_last_looked_at(synth: Synthesize, snapshot: SnapshotAssertion) -> None:
    template = synth("notified").templates[STACK]
    assert template == snapshot(extension_class=JSONSnapshotExtension)


def test_its_rules_are_about_the_role_that_jobs_are_launched_with(synth: Synthesize) -> None:
    templates = synth("notified").templates
    told = templates["StorageStack"]["Outputs"]
    patterns = [
        rule["Properties"]["EventPattern"]
        for rule in templates[STACK]["Resources"].values()
        if rule["Type"] == "AWS::Events::Rule"
    ]
    of_sagemaker = [each for each in patterns if each["source"] == ["aws.sagemaker"]]
    assert (len(of_sagemaker), len(patterns)) == (2, 4)
    for pattern in of_sagemaker:
        [role] = pattern["detail"]["RoleArn"]
        asked = role["Fn::GetStackOutput"]
        assert asked["StackName"] == "StorageStack"
        assert told[asked["OutputName"]]["Value"] == told["TrainingRoleArn"]["Value"]


def test_its_other_rules_are_about_what_the_head_puts_on_the_bus(synth: Synthesize) -> None:
    names = node_json(synth("notified"), "Head")["events"]
    resources = synth("notified").templates[STACK]["Resources"]
    found = [
        rule["Properties"]
        for rule in resources.values()
        if rule["Type"] == "AWS::Events::Rule"
        and rule["Properties"]["EventPattern"]["source"] == [names["source"]]
    ]
    assert len(found) == 2
    for rule in found:
        assert rule["EventPattern"]["detail-type"] == [names["detail_type"]]
        assert rule["EventPattern"]["account"] == [{"Ref": "AWS::AccountId"}]
        # None named: the default bus, as in the event.
        assert "EventBusName" not in rule


def test_people_are_told_by_an_encrypted_topic_that_takes_nothing_over_plain_http() -> None:
    template = made(EMAILS)
    topic, key = only(template, "AWS::SNS::Topic"), only(template, "AWS::KMS::Key")
    template.has_resource_properties(
        "AWS::SNS::Topic", {"KmsMasterKeyId": {"Fn::GetAtt": [key, "Arn"]}}
    )
    template.has_resource_properties("AWS::KMS::Key", {"EnableKeyRotation": True})
    subscriptions = template.find_resources("AWS::SNS::Subscription")
    assert sorted(each["Properties"]["Endpoint"] for each in subscriptions.values()) == [
        "jo@example.org",
        "vision@example.org",
    ]
    for each in subscriptions.values():
        assert each["Properties"]["Protocol"] == "email"
        assert each["Properties"]["TopicArn"] == {"Ref": topic}
    template.has_resource_properties(
        "AWS::SNS::TopicPolicy",
        {
            "PolicyDocument": {
                "Version": "2012-10-17",
                "Statement": [
                    Match.object_like(
                        {
                            "Effect": "Deny",
                            "Principal": "*",
                            "Action": "sns:Publish",
                            "Condition": {"Bool": {"aws:SecureTransport": "false"}},
                        }
                    )
                ],
            }
        },
    )
    template.has_output("TopicArn", {"Value": {"Ref": topic}})
    template.resource_count_is("AWS::Events::ApiDestination", 0)


def test_who_publishes_may_do_that_and_use_the_key_of_the_topic() -> None:
    template = made(EMAILS)
    topic, key = only(template, "AWS::SNS::Topic"), only(template, "AWS::KMS::Key")
    template.has_resource_properties(
        "AWS::IAM::ManagedPolicy",
        {
            "Roles": [{"Ref": only(template, "AWS::IAM::Role")}],
            "PolicyDocument": {
                "Version": "2012-10-17",
                "Statement": [
                    {"Action": "sns:Publish", "Effect": "Allow", "Resource": {"Ref": topic}},
                    {
                        "Action": ["kms:Decrypt", "kms:GenerateDataKey"],
                        "Effect": "Allow",
                        "Resource": {"Fn::GetAtt": [key, "Arn"]},
                    },
                ],
            },
        },
    )


def test_a_webhook_has_its_address_and_authorization_from_the_secret() -> None:
    template = made(WEBHOOK)
    template.has_resource_properties(
        "AWS::Events::Connection",
        {
            "AuthorizationType": "API_KEY",
            "AuthParameters": {
                "ApiKeyAuthParameters": {
                    "ApiKeyName": "Authorization",
                    "ApiKeyValue": read("authorization"),
                }
            },
        },
    )
    template.has_resource_properties(
        "AWS::Events::ApiDestination",
        {
            "ConnectionArn": {"Fn::GetAtt": [only(template, "AWS::Events::Connection"), "Arn"]},
            "InvocationEndpoint": read("url"),
            "HttpMethod": "POST",
        },
    )
    assert "https://" not in json.dumps(template.to_json())
    template.resource_count_is("AWS::SNS::Topic", 0)
    template.resource_count_is("AWS::KMS::Key", 0)


def test_who_calls_the_webhook_may_do_nothing_else() -> None:
    template = made(WEBHOOK)
    destination = only(template, "AWS::Events::ApiDestination")
    template.has_resource_properties(
        "AWS::IAM::ManagedPolicy",
        {
            "PolicyDocument": {
                "Version": "2012-10-17",
                "Statement": [
                    {
                        "Action": "events:InvokeApiDestination",
                        "Effect": "Allow",
                        "Resource": {"Fn::GetAtt": [destination, "Arn"]},
                    }
                ],
            }
        },
    )


def test_eventbridge_takes_the_roles_for_rules_of_this_stack_alone(synth: Synthesize) -> None:
    found = [
        each
        for each in statements(synth("notified"))
        if each.where.startswith(STACK) and each.actions == ("sts:AssumeRole",)
    ]
    assert len(found) == 2
    for each in found:
        assert each.principals == {"Service": ["events.amazonaws.com"]}
        assert each.conditions["StringEquals"] == {"aws:SourceAccount": {"Ref": "AWS::AccountId"}}
        arn = each.conditions["ArnLike"]["aws:SourceArn"]["Fn::Join"][1]
        assert arn[-3:] == [":rule/", {"Ref": "AWS::StackName"}, "-*"]


def test_each_target_of_a_rule_has_the_role_that_may_reach_it(synth: Synthesize) -> None:
    resources = synth("notified").templates[STACK]["Resources"]
    for rule in resources.values():
        if rule["Type"] != "AWS::Events::Rule":
            continue
        roles = {
            each["Id"]: each["RoleArn"]["Fn::GetAtt"][0] for each in rule["Properties"]["Targets"]
        }
        assert [resources[roles[name]]["Properties"]["Description"] for name in roles] == [
            "EventBridge tells a topic how training jobs do",
            "EventBridge tells a webhook how training jobs do",
        ]


def test_the_metadata_tells_the_settings_and_no_secret(synth: Synthesize) -> None:
    told = synth("notified").templates[STACK]["Metadata"]["TrainingSettings"]
    assert told == MATRIX["notified"]
