"""What a stack has beside its resources: tags and termination protection."""

from __future__ import annotations

from typing import Any

import pytest
from botocore.exceptions import ClientError

from tests.conftest import LocalAws
from tests.localaws.cloudformation.stack_of_test import Resources, Stack


def as_list(tags: dict[str, str]) -> list[dict[str, str]]:
    return [{"Key": key, "Value": value} for key, value in tags.items()]


def as_dict(tags: list[dict[str, str]]) -> dict[str, str]:
    return {tag["Key"]: tag["Value"] for tag in tags}


VPC = {"Vpc": {"Type": "AWS::EC2::VPC", "Properties": {"CidrBlock": "10.0.0.0/24"}}}


def test_protected_stack_is_not_deleted_until_it_is_unprotected(stack: Stack) -> None:
    made = stack.create(VPC, arguments={"EnableTerminationProtection": True})
    assert made["EnableTerminationProtection"] is True
    with pytest.raises(ClientError, match="while TerminationProtection is enabled"):
        stack.delete()
    assert stack.describe()["StackStatus"] == "CREATE_COMPLETE"
    stack.cloudformation.update_termination_protection(
        StackName=stack.name, EnableTerminationProtection=False
    )
    assert stack.describe()["EnableTerminationProtection"] is False
    stack.delete()
    with pytest.raises(ClientError, match="does not exist"):
        stack.describe()


def test_unprotected_stack_can_be_protected_later(stack: Stack) -> None:
    assert stack.create(VPC)["EnableTerminationProtection"] is False
    answer = stack.cloudformation.update_termination_protection(
        StackName=stack.name, EnableTerminationProtection=True
    )
    assert answer["StackId"] == stack.describe()["StackId"]
    with pytest.raises(ClientError, match="TerminationProtection"):
        stack.delete()


TRUST = {
    "Version": "2012-10-17",
    "Statement": {
        "Effect": "Allow",
        "Principal": {"Service": "sagemaker.amazonaws.com"},
        "Action": "sts:AssumeRole",
    },
}

TAGGED: Resources = {
    "Vpc": {
        "Type": "AWS::EC2::VPC",
        "Properties": {
            "CidrBlock": "10.0.0.0/24",
            "Tags": as_list({"Name": "mine", "team": "own"}),
        },
    },
    "Bucket": {"Type": "AWS::S3::Bucket"},
    "Shared": {"Type": "AWS::EFS::FileSystem"},
    "Key": {"Type": "AWS::KMS::Key"},
    "Role": {"Type": "AWS::IAM::Role", "Properties": {"AssumeRolePolicyDocument": TRUST}},
    "Images": {"Type": "AWS::ECR::Repository"},
    "Logs": {"Type": "AWS::Logs::LogGroup"},
    "Notebook": {
        "Type": "AWS::SageMaker::NotebookInstance",
        "Properties": {
            "InstanceType": "ml.m5.2xlarge",
            "RoleArn": {"Fn::GetAtt": ["Role", "Arn"]},
        },
    },
    "Subnet": {
        "Type": "AWS::EC2::Subnet",
        "Properties": {"VpcId": {"Ref": "Vpc"}, "CidrBlock": "10.0.0.0/26"},
    },
    "Fast": {
        "Type": "AWS::FSx::FileSystem",
        "Properties": {
            "FileSystemType": "LUSTRE",
            "StorageCapacity": 1200,
            "SubnetIds": [{"Ref": "Subnet"}],
            "LustreConfiguration": {"DeploymentType": "SCRATCH_2"},
        },
    },
}


def tags_of(aws: LocalAws, ids: dict[str, str]) -> dict[str, dict[str, str]]:
    """Return the tags of each resource as its own service shows them."""
    ec2, kms = aws.client("ec2"), aws.client("kms")
    repository = aws.client("ecr").describe_repositories(repositoryNames=[ids["Images"]])
    arn = repository["repositories"][0]["repositoryArn"]
    fast = aws.client("fsx").describe_file_systems(FileSystemIds=[ids["Fast"]])
    keys = kms.list_resource_tags(KeyId=ids["Key"])["Tags"]
    lists: dict[str, Any] = {
        "Vpc": ec2.describe_vpcs(VpcIds=[ids["Vpc"]])["Vpcs"][0].get("Tags", []),
        "Subnet": ec2.describe_subnets(SubnetIds=[ids["Subnet"]])["Subnets"][0].get("Tags", []),
        "Shared": aws.client("efs").list_tags_for_resource(ResourceId=ids["Shared"])["Tags"],
        "Key": [{"Key": tag["TagKey"], "Value": tag["TagValue"]} for tag in keys],
        "Role": aws.client("iam").list_role_tags(RoleName=ids["Role"])["Tags"],
        "Images": aws.client("ecr").list_tags_for_resource(resourceArn=arn)["tags"],
        "Logs": as_list(aws.client("logs").list_tags_log_group(logGroupName=ids["Logs"])["tags"]),
        "Notebook": aws.client("sagemaker").list_tags(ResourceArn=ids["Notebook"])["Tags"],
        "Fast": fast["FileSystems"][0].get("Tags", []),
    }
    try:
        lists["Bucket"] = aws.client("s3").get_bucket_tagging(Bucket=ids["Bucket"])["TagSet"]
    except ClientError as error:
        assert error.response["Error"]["Code"] == "NoSuchTagSet"
        lists["Bucket"] = []
    return {name: as_dict(tags) for name, tags in lists.items()}


def test_tags_of_a_stack_reach_its_resources_and_follow_its_changes(
    local_aws: LocalAws, stack: Stack
) -> None:
    first = {"team": "vision", "cost": "17"}
    made = stack.create(TAGGED, arguments={"Tags": as_list(first)})
    assert made["StackStatus"] == "CREATE_COMPLETE", made.get("StackStatusReason")
    assert as_dict(made["Tags"]) == first
    own = {"Vpc": {"Name": "mine", "team": "own"}}
    ids = stack.ids()
    assert tags_of(local_aws, ids) == {name: first | own.get(name, {}) for name in TAGGED}

    second = {"team": "speech"}
    changed = stack.update(TAGGED, arguments={"Tags": as_list(second)})
    assert changed["StackStatus"] == "UPDATE_COMPLETE", changed.get("StackStatusReason")
    assert as_dict(changed["Tags"]) == second
    assert stack.ids() == ids
    assert tags_of(local_aws, ids) == {name: second | own.get(name, {}) for name in TAGGED}

    cleared = stack.update(TAGGED, arguments={"Tags": []})
    assert cleared.get("Tags", []) == []
    assert tags_of(local_aws, ids) == {name: own.get(name, {}) for name in TAGGED}
    stack.delete()


def test_update_that_says_nothing_of_tags_keeps_them(stack: Stack) -> None:
    stack.create(VPC, arguments={"Tags": as_list({"team": "vision"})})
    changed = stack.update({**VPC, "Images": {"Type": "AWS::ECR::Repository"}})
    assert as_dict(changed["Tags"]) == {"team": "vision"}
    stack.delete()


def test_tags_come_back_with_a_failed_update(local_aws: LocalAws, stack: Stack) -> None:
    stack.create(VPC, arguments={"Tags": as_list({"team": "vision"})})
    bad = {"Subnet": {"Type": "AWS::EC2::Subnet", "Properties": {"VpcId": "vpc-1"}}}
    failed = stack.update({**VPC, **bad}, arguments={"Tags": as_list({"team": "speech"})})
    assert failed["StackStatus"] == "UPDATE_ROLLBACK_COMPLETE"
    assert as_dict(failed["Tags"]) == {"team": "vision"}
    (vpc,) = local_aws.client("ec2").describe_vpcs(VpcIds=[stack.ids()["Vpc"]])["Vpcs"]
    assert as_dict(vpc["Tags"]) == {"team": "vision"}
    stack.delete()
