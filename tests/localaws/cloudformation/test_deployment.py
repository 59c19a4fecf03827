"""Stacks through CloudFormation's API: made, changed, rolled back and deleted."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from botocore.exceptions import ClientError

from tests.conftest import LocalAws
from tests.localaws.cloudformation.stack_of_test import Resources, Stack


def vpc(cidr: str = "10.0.0.0/16", **properties: Any) -> Resources:
    return {"Type": "AWS::EC2::VPC", "Properties": {"CidrBlock": cidr, **properties}}


EFS: Resources = {"Type": "AWS::EFS::FileSystem", "Properties": {}}
TOO_LARGE = {
    "Type": "AWS::EC2::Subnet",
    "Properties": {"VpcId": {"Ref": "Vpc"}, "CidrBlock": "1.0.0.0/8"},
}


def efs_ids(aws: LocalAws) -> set[str]:
    pages = aws.client("efs").get_paginator("describe_file_systems").paginate()
    return {each["FileSystemId"] for page in pages for each in page["FileSystems"]}


def test_unknown_type_is_refused_with_type_and_logical_id(stack: Stack) -> None:
    rocket = {"Rocket": {"Type": "AWS::Space::Rocket"}}
    with pytest.raises(ClientError) as refused:
        stack.create({"Vpc": vpc(), **rocket})
    error = refused.value.response["Error"]
    assert error["Code"] == "ValidationError"
    assert "Rocket (AWS::Space::Rocket)" in error["Message"]
    with pytest.raises(ClientError, match="does not exist"):
        stack.describe()


def test_failed_creation_rolls_back_with_the_reason(local_aws: LocalAws, stack: Stack) -> None:
    before = efs_ids(local_aws)
    made = stack.create({"Shared": EFS, "Vpc": vpc(), "Subnet": TOO_LARGE})
    assert made["StackStatus"] == "ROLLBACK_COMPLETE"
    assert "Subnet (AWS::EC2::Subnet)" in made["StackStatusReason"]
    assert "1.0.0.0/8" in made["StackStatusReason"]
    assert stack.events("Subnet") == ["CREATE_IN_PROGRESS", "CREATE_FAILED"]
    assert stack.events("Vpc")[-1] == "DELETE_COMPLETE"
    assert efs_ids(local_aws) == before
    stack.delete()


@pytest.mark.parametrize(("policy", "left"), [("Retain", 1), ("RetainExceptOnCreate", 0)])
def test_failed_deployment_leaves_what_it_made_only_with_retain(
    local_aws: LocalAws, new_stack: Callable[[], Stack], policy: str, left: int
) -> None:
    kept = {**EFS, "DeletionPolicy": policy, "UpdateReplacePolicy": "Retain"}
    created, updated = new_stack(), new_stack()
    before = efs_ids(local_aws)
    created.create({"Kept": kept, "Vpc": vpc(), "Subnet": TOO_LARGE})
    assert len(efs_ids(local_aws) - before) == left
    created.delete()
    updated.create({"Old": kept, "Vpc": vpc()})
    before = efs_ids(local_aws)
    updated.update({"Old": kept, "New": kept, "Vpc": vpc(), "Subnet": TOO_LARGE})
    assert len(efs_ids(local_aws) - before) == left
    assert updated.ids()["Old"] in efs_ids(local_aws)
    updated.delete()


def test_failed_update_brings_back_what_was(local_aws: LocalAws, stack: Stack) -> None:
    group = {
        "Type": "AWS::EC2::SecurityGroup",
        "Properties": {"GroupDescription": "old", "VpcId": {"Ref": "Vpc"}},
    }
    outputs = {"Outputs": {"VpcId": {"Value": {"Ref": "Vpc"}}}}
    first = stack.create({"Vpc": vpc(), "Group": group, "Shared": EFS}, **outputs)
    ids = stack.ids()
    changed_group = {**group, "Properties": {**group["Properties"], "GroupDescription": "new"}}
    changed = stack.update(
        {
            "Vpc": vpc(EnableDnsHostnames=True),
            "Group": changed_group,
            "Other": EFS,
            "Subnet": TOO_LARGE,
        },
        **outputs,
    )
    assert changed["StackStatus"] == "UPDATE_ROLLBACK_COMPLETE"
    assert changed["Outputs"] == first["Outputs"]
    assert stack.ids() == ids
    assert stack.events("Other")[-1] == "DELETE_COMPLETE"
    hostnames = local_aws.client("ec2").describe_vpc_attribute(
        VpcId=ids["Vpc"], Attribute="enableDnsHostnames"
    )
    assert hostnames["EnableDnsHostnames"]["Value"] is False
    groups = local_aws.client("ec2").describe_security_groups(
        Filters=[{"Name": "vpc-id", "Values": [ids["Vpc"]]}]
    )["SecurityGroups"]
    assert {each["Description"] for each in groups} == {"old", "default VPC security group"}
    stack.delete()


def test_update_without_changes_says_so(stack: Stack) -> None:
    stack.create({"Vpc": vpc()})
    with pytest.raises(ClientError, match="No updates are to be performed"):
        stack.update({"Vpc": vpc()})
    stack.delete()


def test_zones_of_the_region_are_no_change(stack: Stack) -> None:
    zone = {"Fn::Select": [0, {"Fn::GetAZs": ""}]}
    subnet = {"VpcId": {"Ref": "Vpc"}, "CidrBlock": "10.0.0.0/24", "AvailabilityZone": zone}
    resources = {"Vpc": vpc(), "Subnet": {"Type": "AWS::EC2::Subnet", "Properties": subnet}}
    stack.create(resources)
    with pytest.raises(ClientError, match="No updates are to be performed"):
        stack.update(resources)
    stack.delete()


def test_named_resource_is_not_replaced_under_its_name(stack: Stack) -> None:
    def group(name: str, description: str) -> Resources:
        properties = {"GroupName": name, "GroupDescription": description, "VpcId": {"Ref": "Vpc"}}
        resource = {"Type": "AWS::EC2::SecurityGroup", "Properties": properties}
        return {"Vpc": vpc(), "Group": resource}

    stack.create(group("mine", "old"))
    before = stack.ids()
    refused = stack.update(group("mine", "new"))
    assert refused["StackStatus"] == "UPDATE_ROLLBACK_COMPLETE"
    assert "Group (AWS::EC2::SecurityGroup)" in refused["StackStatusReason"]
    assert "Rename mine and update the stack again." in refused["StackStatusReason"]
    assert stack.ids() == before

    assert stack.update(group("yours", "new"))["StackStatus"] == "UPDATE_COMPLETE"
    assert stack.ids()["Group"] != before["Group"]
    stack.delete()


def test_update_in_place_keeps_the_resource(local_aws: LocalAws, stack: Stack) -> None:
    stack.create({"Vpc": vpc(Tags=[{"Key": "a", "Value": "1"}, {"Key": "b", "Value": "1"}])})
    before = stack.ids()
    stack.update({"Vpc": vpc(Tags=[{"Key": "a", "Value": "2"}])})
    assert stack.ids() == before
    (seen,) = local_aws.client("ec2").describe_vpcs(VpcIds=[before["Vpc"]])["Vpcs"]
    assert seen["Tags"] == [{"Key": "a", "Value": "2"}]
    stack.delete()


def test_replacement_reaches_those_that_refer_to_it(local_aws: LocalAws, stack: Stack) -> None:
    subnet = {
        "Type": "AWS::EC2::Subnet",
        "Properties": {
            "VpcId": {"Ref": "Vpc"},
            "CidrBlock": {"Fn::Select": [0, [{"Fn::GetAtt": ["Vpc", "CidrBlock"]}]]},
        },
    }
    stack.create({"Vpc": vpc("10.0.0.0/24"), "Subnet": subnet})
    before = stack.ids()
    stack.update({"Vpc": vpc("10.1.0.0/24"), "Subnet": subnet})
    after = stack.ids()
    ec2 = local_aws.client("ec2")
    (seen,) = ec2.describe_subnets(SubnetIds=[after["Subnet"]])["Subnets"]
    assert (seen["VpcId"], seen["CidrBlock"]) == (after["Vpc"], "10.1.0.0/24")
    assert after["Vpc"] != before["Vpc"]
    with pytest.raises(ClientError, match="InvalidVpcID"):
        ec2.describe_vpcs(VpcIds=[before["Vpc"]])
    stack.delete()


@pytest.mark.parametrize("policy", ["Retain", "RetainExceptOnCreate"])
def test_retained_resource_outlives_its_stack_and_its_removal(
    local_aws: LocalAws, new_stack: Callable[[], Stack], policy: str
) -> None:
    kept = {**EFS, "DeletionPolicy": policy}
    deleted, changed = new_stack(), new_stack()
    deleted.create({"Kept": kept, "Gone": EFS})
    changed.create({"Kept": kept, "Gone": EFS, "Vpc": vpc()})
    first, second = deleted.ids(), changed.ids()
    deleted.delete()
    changed.update({"Vpc": vpc()})
    there = efs_ids(local_aws)
    assert {first["Kept"], second["Kept"]} <= there
    assert not {first["Gone"], second["Gone"]} & there
    assert (local_aws.mounts / first["Kept"]).is_dir()
    assert not (local_aws.mounts / first["Gone"]).exists()
    changed.delete()


def test_bucket_with_objects_fails_the_deletion_until_it_is_empty(
    local_aws: LocalAws, stack: Stack
) -> None:
    stack.create({"Bucket": {"Type": "AWS::S3::Bucket"}, "Shared": EFS})
    bucket = stack.ids()["Bucket"]
    s3 = local_aws.client("s3")
    s3.put_object(Bucket=bucket, Key="a", Body=b"a")
    stack.delete()
    assert stack.describe()["StackStatus"] == "DELETE_FAILED"
    assert "[Bucket]" in stack.describe()["StackStatusReason"]
    s3.delete_object(Bucket=bucket, Key="a")
    stack.delete()
    with pytest.raises(ClientError, match="does not exist"):
        stack.describe()


def exporting(value: Any, name: str = "shared-vpc") -> Resources:
    return {"Outputs": {"Exported": {"Value": value, "Export": {"Name": name}}}}


def test_export_in_use_can_be_neither_dropped_nor_changed(
    new_stack: Callable[[], Stack],
) -> None:
    exporter, importer = new_stack(), new_stack()
    vpcs = {"Vpc": vpc("10.2.0.0/16")}
    exporter.create(vpcs, **exporting({"Ref": "Vpc"}))
    importer.create(
        {
            "Subnet": {
                "Type": "AWS::EC2::Subnet",
                "Properties": {
                    "VpcId": {"Fn::ImportValue": "shared-vpc"},
                    "CidrBlock": "10.2.0.0/24",
                },
            }
        }
    )
    with pytest.raises(ClientError, match=f"shared-vpc cannot be deleted .*{importer.name}"):
        exporter.delete()
    dropped = exporter.update(vpcs)
    assert dropped["StackStatus"] == "UPDATE_ROLLBACK_COMPLETE"
    replaced = exporter.update({"Vpc": vpc("10.3.0.0/16")}, **exporting({"Ref": "Vpc"}))
    assert replaced["StackStatus"] == "UPDATE_ROLLBACK_COMPLETE"
    assert "cannot be updated as it is in use" in replaced["StackStatusReason"]
    importer.delete()
    assert exporter.update(vpcs)["StackStatus"] == "UPDATE_COMPLETE"
    exporter.delete()


def test_zone_that_the_region_does_not_have_fails_with_the_function(stack: Stack) -> None:
    zone = {"Fn::Select": [9, {"Fn::GetAZs": ""}]}
    properties = {"VpcId": {"Ref": "Vpc"}, "CidrBlock": "10.0.0.0/24", "AvailabilityZone": zone}
    subnet = {"Type": "AWS::EC2::Subnet", "Properties": properties}
    made = stack.create({"Vpc": vpc(), "Subnet": subnet})
    assert made["StackStatus"] == "ROLLBACK_COMPLETE"
    assert "Subnet (AWS::EC2::Subnet): Fn::Select asks for more" in made["StackStatusReason"]


@pytest.mark.parametrize(
    ("region", "expected"),
    [("us-east-1", "arn:aws amazonaws.com"), ("cn-northwest-1", "arn:aws-cn amazonaws.com.cn")],
)
def test_partition_is_that_of_the_region(local_aws: LocalAws, region: str, expected: str) -> None:
    client = local_aws.session().client(
        "cloudformation", region_name=region, endpoint_url=local_aws.endpoint
    )
    value = {"Fn::Sub": "arn:${AWS::Partition} ${AWS::URLSuffix}"}
    body = {"Resources": {"Vpc": vpc()}, "Outputs": {"Seen": {"Value": value}}}
    client.create_stack(StackName="Partition", TemplateBody=json.dumps(body))
    (made,) = client.describe_stacks(StackName="Partition")["Stacks"]
    assert made["Outputs"][0]["OutputValue"] == expected
    client.delete_stack(StackName="Partition")


def test_property_that_cannot_change_in_place_fails_with_a_way_out(stack: Stack) -> None:
    def address(**properties: str) -> Resources:
        return {"Address": {"Type": "AWS::EC2::EIP", "Properties": {"Domain": "vpc", **properties}}}

    stack.create(address())
    changed = stack.update(address(InstanceId="i-0123456789abcdef0"))
    assert changed["StackStatus"] == "UPDATE_ROLLBACK_COMPLETE"
    assert "local AWS cannot change InstanceId" in changed["StackStatusReason"]
    stack.delete()


def test_zones_are_those_of_the_region(local_aws: LocalAws, stack: Stack) -> None:
    zone = {"Fn::Select": [2, {"Fn::GetAZs": {"Ref": "AWS::Region"}}]}
    made = stack.create({"Vpc": vpc()}, Outputs={"Zone": {"Value": zone}})
    assert made["Outputs"][0]["OutputValue"] == "us-east-1c"
    stack.delete()


def test_metadata_and_description_alone_are_no_change(stack: Stack) -> None:
    stack.create({"Vpc": vpc()}, Metadata={"Ours": {"a": "1"}})
    with pytest.raises(ClientError, match="No updates are to be performed"):
        stack.update({"Vpc": vpc()}, Metadata={"Ours": {"a": "2"}}, Description="New")
    assert summary_of(stack)["Metadata"] == '{"Ours": {"a": "1"}}'
    stack.update({"Vpc": vpc(EnableDnsHostnames=True)}, Metadata={"Ours": {"a": "2"}})
    assert summary_of(stack)["Metadata"] == '{"Ours": {"a": "2"}}'


def summary_of(stack: Stack) -> dict[str, Any]:
    summary: dict[str, Any] = stack.cloudformation.get_template_summary(StackName=stack.name)
    return summary
