"""Roles, managed policies and instance profiles, made and changed by a stack."""

from __future__ import annotations

from typing import Any

import pytest
from botocore.exceptions import ClientError

from tests.conftest import LocalAws
from tests.localaws.cloudformation.stack_of_test import Resources, Stack

READ_ONLY = "arn:aws:iam::aws:policy/ReadOnlyAccess"


def trust(service: str) -> dict[str, Any]:
    statement = {"Effect": "Allow", "Principal": {"Service": service}, "Action": "sts:AssumeRole"}
    return {"Version": "2012-10-17", "Statement": [statement]}


def document(action: str) -> dict[str, Any]:
    statement = {"Effect": "Allow", "Action": action, "Resource": "*"}
    return {"Version": "2012-10-17", "Statement": [statement]}


def role(service: str = "ec2.amazonaws.com", **properties: Any) -> Resources:
    properties = {"AssumeRolePolicyDocument": trust(service), **properties}
    return {"Type": "AWS::IAM::Role", "Properties": properties}


def policy(action: str, *roles: str, **properties: Any) -> Resources:
    return {
        "Type": "AWS::IAM::ManagedPolicy",
        "Properties": {
            "PolicyDocument": document(action),
            "Roles": [{"Ref": each} for each in roles],
            **properties,
        },
    }


def attached(aws: LocalAws, name: str) -> set[str]:
    answer = aws.client("iam").list_attached_role_policies(RoleName=name)
    return {each["PolicyArn"] for each in answer["AttachedPolicies"]}


def test_role_is_seen_whole_and_changes_in_place(local_aws: LocalAws, stack: Stack) -> None:
    boundary = policy("s3:*")
    first = role(
        Path="/ml/",
        Description="first",
        MaxSessionDuration=7200,
        PermissionsBoundary={"Ref": "Boundary"},
        ManagedPolicyArns=[READ_ONLY],
        Tags=[{"Key": "team", "Value": "vision"}, {"Key": "gone", "Value": "soon"}],
        Policies=[{"PolicyName": "inline", "PolicyDocument": document("s3:GetObject")}],
    )
    made = stack.create({"Boundary": boundary, "Role": first})
    assert made["StackStatus"] == "CREATE_COMPLETE", made.get("StackStatusReason")
    ids, iam = stack.ids(), local_aws.client("iam")
    seen = iam.get_role(RoleName=ids["Role"])["Role"]
    assert (seen["Path"], seen["Description"], seen["MaxSessionDuration"]) == (
        "/ml/",
        "first",
        7200,
    )
    assert seen["PermissionsBoundary"]["PermissionsBoundaryArn"] == ids["Boundary"]
    assert attached(local_aws, ids["Role"]) == {READ_ONLY}

    second = role(
        "sagemaker.amazonaws.com",
        Path="/ml/",
        Description="second",
        Tags=[{"Key": "team", "Value": "speech"}],
    )
    changed = stack.update({"Boundary": boundary, "Role": second})
    assert changed["StackStatus"] == "UPDATE_COMPLETE", changed.get("StackStatusReason")
    assert stack.ids() == ids
    seen = iam.get_role(RoleName=ids["Role"])["Role"]
    assert seen["AssumeRolePolicyDocument"] == trust("sagemaker.amazonaws.com")
    assert (seen["Description"], seen["MaxSessionDuration"]) == ("second", 3600)
    assert "PermissionsBoundary" not in seen
    assert seen["Tags"] == [{"Key": "team", "Value": "speech"}]
    assert attached(local_aws, ids["Role"]) == set()
    assert iam.list_role_policies(RoleName=ids["Role"])["PolicyNames"] == []
    stack.delete()


def test_path_makes_a_new_role_that_its_policies_follow(local_aws: LocalAws, stack: Stack) -> None:
    stack.create({"Role": role(), "Policy": policy("s3:GetObject", "Role")})
    before = stack.ids()
    changed = stack.update({"Role": role(Path="/ml/"), "Policy": policy("s3:GetObject", "Role")})
    assert changed["StackStatus"] == "UPDATE_COMPLETE", changed.get("StackStatusReason")
    after = stack.ids()
    assert after["Role"] != before["Role"]
    assert after["Policy"] == before["Policy"]
    assert attached(local_aws, after["Role"]) == {after["Policy"]}
    with pytest.raises(ClientError, match="NoSuchEntity"):
        local_aws.client("iam").get_role(RoleName=before["Role"])
    stack.delete()


def test_several_policies_are_attached_changed_and_detached(
    local_aws: LocalAws, stack: Stack
) -> None:
    roles = {"One": role(), "Two": role()}
    stack.create(
        {
            **roles,
            "Read": policy("s3:GetObject", "One", "Two", Description="Reads data", Path="/ml/"),
            "Write": policy("s3:PutObject", "One"),
        }
    )
    ids, iam = stack.ids(), local_aws.client("iam")
    assert attached(local_aws, ids["One"]) == {ids["Read"], ids["Write"]}
    assert attached(local_aws, ids["Two"]) == {ids["Read"]}
    seen = iam.get_policy(PolicyArn=ids["Read"])["Policy"]
    assert (seen["Description"], seen["Path"]) == ("Reads data", "/ml/")
    # Seven changes: IAM keeps five versions of a policy.
    for number in range(7):
        stack.update(
            {
                **roles,
                "Read": policy("s3:GetObject", "Two", Description="Reads data", Path="/ml/"),
                "Write": policy(f"s3:PutObject{number}", "Two"),
            }
        )
    assert stack.ids() == ids
    assert attached(local_aws, ids["One"]) == set()
    assert attached(local_aws, ids["Two"]) == {ids["Read"], ids["Write"]}
    version = iam.get_policy(PolicyArn=ids["Write"])["Policy"]["DefaultVersionId"]
    current = iam.get_policy_version(PolicyArn=ids["Write"], VersionId=version)
    assert current["PolicyVersion"]["Document"] == document("s3:PutObject6")
    stack.delete()
    for arn in (ids["Read"], ids["Write"]):
        with pytest.raises(ClientError, match="NoSuchEntity"):
            iam.get_policy(PolicyArn=arn)


def test_policy_that_others_attached_keeps_the_role(local_aws: LocalAws, stack: Stack) -> None:
    stack.create({"Role": role()})
    name, iam = stack.ids()["Role"], local_aws.client("iam")
    iam.attach_role_policy(RoleName=name, PolicyArn=READ_ONLY)
    stack.delete()
    assert stack.describe()["StackStatus"] == "DELETE_FAILED"
    iam.detach_role_policy(RoleName=name, PolicyArn=READ_ONLY)
    stack.delete()
    with pytest.raises(ClientError, match="NoSuchEntity"):
        iam.get_role(RoleName=name)


def test_role_with_a_policy_that_is_not_there_leaves_nothing(
    local_aws: LocalAws, stack: Stack
) -> None:
    missing = "arn:aws:iam::123456789012:policy/missing"
    made = stack.create({"Role": role(ManagedPolicyArns=[READ_ONLY, missing])})
    assert made["StackStatus"] == "ROLLBACK_COMPLETE"
    assert "policy/missing does not exist" in made["StackStatusReason"]
    names = [each["RoleName"] for each in local_aws.client("iam").list_roles()["Roles"]]
    assert not [name for name in names if name.startswith(stack.name)]


def test_instance_profile_changes_its_role(local_aws: LocalAws, stack: Stack) -> None:
    def resources(name: str) -> Resources:
        properties = {"Roles": [{"Ref": name}], "Path": "/ml/"}
        profile = {"Type": "AWS::IAM::InstanceProfile", "Properties": properties}
        return {"One": role(), "Two": role(), "Profile": profile}

    stack.create(resources("One"))
    stack.update(resources("Two"))
    ids = stack.ids()
    answer = local_aws.client("iam").get_instance_profile(InstanceProfileName=ids["Profile"])
    profile = answer["InstanceProfile"]
    assert profile["Path"] == "/ml/"
    assert [each["RoleName"] for each in profile["Roles"]] == [ids["Two"]]
    stack.delete()


def test_generated_name_of_a_role_fits(stack: Stack) -> None:
    logical_id = "Very" * 20
    stack.create({logical_id: role()})
    name = stack.ids()[logical_id]
    assert len(name) == 64
    assert name.startswith(f"{stack.name}-Very")
    stack.delete()
