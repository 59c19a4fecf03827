"""Change sets, by which the CDK CLI deploys unless it is told otherwise."""

from __future__ import annotations

import json
from typing import Any

import pytest
from botocore.exceptions import ClientError

from tests.conftest import LocalAws
from tests.localaws.cloudformation.stack_of_test import Stack


def template(cidr: str = "10.4.0.0/16") -> dict[str, Any]:
    return {
        "Resources": {"Vpc": {"Type": "AWS::EC2::VPC", "Properties": {"CidrBlock": cidr}}},
        "Outputs": {"Vpc": {"Value": {"Ref": "Vpc"}}},
    }


class ChangeSet:
    """The change set of a stack; the CDK CLI too has one name for all."""

    def __init__(self, stack: Stack) -> None:
        self._cloudformation = stack.cloudformation
        self._name = {"StackName": stack.name, "ChangeSetName": "change"}

    def make(self, kind: str, template: dict[str, Any], **arguments: Any) -> dict[str, Any]:
        body = json.dumps(template)
        self._cloudformation.create_change_set(
            **self._name, ChangeSetType=kind, TemplateBody=body, **arguments
        )
        made: dict[str, Any] = self._cloudformation.describe_change_set(**self._name)
        return made

    def execute(self) -> None:
        self._cloudformation.execute_change_set(**self._name)

    def delete(self) -> None:
        self._cloudformation.delete_change_set(**self._name)


def statuses(stack: Stack) -> list[str]:
    """Return those of all stacks of this name."""
    stacks = stack.cloudformation.describe_stacks()["Stacks"]
    return [each["StackStatus"] for each in stacks if each["StackName"] == stack.name]


def test_change_set_makes_and_changes_as_a_direct_deployment_does(
    local_aws: LocalAws, stack: Stack
) -> None:
    change = ChangeSet(stack)
    for kind, cidr in (("CREATE", "10.4.0.0/16"), ("UPDATE", "10.5.0.0/16")):
        change.make(kind, template(cidr))
        change.execute()
        described = stack.describe()
        assert described["StackStatus"] == f"{kind}_COMPLETE"
        vpc_id = described["Outputs"][0]["OutputValue"]
        (seen,) = local_aws.client("ec2").describe_vpcs(VpcIds=[vpc_id])["Vpcs"]
        assert seen["CidrBlock"] == cidr
        change.delete()
    stack.delete()


def test_stack_of_a_change_set_that_was_never_executed_can_be_deleted(stack: Stack) -> None:
    ChangeSet(stack).make("CREATE", template())
    with pytest.raises(ClientError, match="in REVIEW_IN_PROGRESS state and can not be updated"):
        stack.update(template("10.9.0.0/16")["Resources"])
    stack.delete()
    with pytest.raises(ClientError, match="does not exist"):
        stack.describe()


def test_refused_change_set_leaves_no_stack(stack: Stack) -> None:
    rocket = {"Resources": {"Rocket": {"Type": "AWS::Space::Rocket"}}}
    with pytest.raises(ClientError, match="Rocket"):
        ChangeSet(stack).make("CREATE", rocket)
    assert statuses(stack) == []


def test_deployment_that_was_broken_off_before_its_execution_begins_again(stack: Stack) -> None:
    change = ChangeSet(stack)
    change.make("CREATE", template())
    assert statuses(stack) == ["REVIEW_IN_PROGRESS"]
    change.make("CREATE", template("10.5.0.0/16"))
    assert statuses(stack) == ["REVIEW_IN_PROGRESS"]
    change.execute()
    assert statuses(stack) == ["CREATE_COMPLETE"]
    with pytest.raises(ClientError, match="already exists and cannot be created again"):
        change.make("CREATE", template())
    assert statuses(stack) == ["CREATE_COMPLETE"]
    stack.delete()


def test_change_set_goes_with_its_stack(stack: Stack) -> None:
    change = ChangeSet(stack)
    change.make("CREATE", template())
    change.execute()
    stack.delete()
    change.make("CREATE", template("10.5.0.0/16"))
    change.execute()
    assert statuses(stack) == ["CREATE_COMPLETE"]
    stack.delete()


def test_protection_that_is_set_before_the_execution_holds(stack: Stack) -> None:
    change = ChangeSet(stack)
    change.make("CREATE", template())
    cloudformation = stack.cloudformation
    cloudformation.update_termination_protection(
        StackName=stack.name, EnableTerminationProtection=True
    )
    change.execute()
    with pytest.raises(ClientError, match="TerminationProtection is enabled"):
        stack.delete()
    cloudformation.update_termination_protection(
        StackName=stack.name, EnableTerminationProtection=False
    )
    stack.delete()
    assert statuses(stack) == []


def test_tags_alone_are_a_change(stack: Stack) -> None:
    tags = [{"Key": "team", "Value": "vision"}]
    change = ChangeSet(stack)
    change.make("CREATE", template(), Tags=tags)
    change.execute()
    change.delete()
    same = change.make("UPDATE", template(), Tags=tags)
    assert (same["Status"], same["ExecutionStatus"]) == ("FAILED", "UNAVAILABLE")
    assert "didn't contain changes" in same["StatusReason"]
    change.delete()

    other = change.make("UPDATE", template(), Tags=[{"Key": "team", "Value": "speech"}])
    assert (other["Status"], other["ExecutionStatus"]) == ("CREATE_COMPLETE", "AVAILABLE")
    change.execute()
    assert stack.describe()["Tags"] == [{"Key": "team", "Value": "speech"}]
    stack.delete()
