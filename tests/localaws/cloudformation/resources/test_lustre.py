"""FSx for Lustre file systems, made and changed by a stack."""

from __future__ import annotations

from typing import Any

import pytest

from tests.conftest import LocalAws
from tests.localaws.cloudformation.stack_of_test import Resources, Stack

NETWORK: Resources = {
    "Vpc": {"Type": "AWS::EC2::VPC", "Properties": {"CidrBlock": "10.0.0.0/24"}},
    "Subnet": {
        "Type": "AWS::EC2::Subnet",
        "Properties": {"VpcId": {"Ref": "Vpc"}, "CidrBlock": "10.0.0.0/25"},
    },
}

PERSISTENT = {"DeploymentType": "PERSISTENT_2", "PerUnitStorageThroughput": 250}


def lustre(capacity_gib: int = 4800, **configuration: Any) -> Resources:
    properties = {
        "FileSystemType": "LUSTRE",
        "StorageCapacity": capacity_gib,
        "SubnetIds": [{"Ref": "Subnet"}],
        "LustreConfiguration": configuration,
    }
    return {**NETWORK, "Fast": {"Type": "AWS::FSx::FileSystem", "Properties": properties}}


def describe(aws: LocalAws, stack: Stack) -> dict[str, Any]:
    answer = aws.client("fsx").describe_file_systems(FileSystemIds=[stack.ids()["Fast"]])
    return dict(answer["FileSystems"][0])


def test_efa_and_metadata_are_seen_and_metadata_changes_in_place(
    local_aws: LocalAws, stack: Stack
) -> None:
    metadata = {"Mode": "USER_PROVISIONED", "Iops": 12000}
    first = lustre(
        **PERSISTENT, EfaEnabled=True, MetadataConfiguration=metadata, DataCompressionType="LZ4"
    )
    made = stack.create(first)
    assert made["StackStatus"] == "CREATE_COMPLETE", made.get("StackStatusReason")
    before = stack.ids()
    seen = describe(local_aws, stack)["LustreConfiguration"]
    assert (seen["EfaEnabled"], seen["MetadataConfiguration"]) == (True, metadata)
    assert seen["DataCompressionType"] == "LZ4"

    more = {"Mode": "USER_PROVISIONED", "Iops": 24000}
    stack.update(lustre(9600, **PERSISTENT, EfaEnabled=True, MetadataConfiguration=more))
    assert stack.ids() == before
    seen = describe(local_aws, stack)
    assert seen["StorageCapacity"] == 9600
    assert seen["LustreConfiguration"]["MetadataConfiguration"] == more
    assert seen["LustreConfiguration"]["DataCompressionType"] == "NONE"

    stack.update(lustre(9600, **PERSISTENT, MetadataConfiguration=more))
    assert stack.ids()["Fast"] != before["Fast"]
    stack.delete()


@pytest.mark.parametrize(
    ("configuration", "message"),
    [
        ({"EfaEnabled": True}, "EfaEnabled is for PERSISTENT_2"),
        ({"MetadataConfiguration": {"Mode": "AUTOMATIC"}}, "MetadataConfiguration is for"),
    ],
)
def test_scratch_takes_neither_efa_nor_metadata(
    stack: Stack, configuration: dict[str, Any], message: str
) -> None:
    made = stack.create(lustre(1200, DeploymentType="SCRATCH_2", **configuration))
    assert made["StackStatus"] == "ROLLBACK_COMPLETE"
    assert message in made["StackStatusReason"]


def test_existing_file_system_is_linked_to_a_bucket(local_aws: LocalAws, stack: Stack) -> None:
    stack.create(NETWORK)
    fsx = local_aws.client("fsx")
    existing = fsx.create_file_system(
        FileSystemType="LUSTRE",
        StorageCapacity=1200,
        SubnetIds=[stack.ids()["Subnet"]],
        LustreConfiguration=PERSISTENT,
    )["FileSystem"]["FileSystemId"]
    link = {
        "FileSystemId": existing,
        "FileSystemPath": "/data",
        "DataRepositoryPath": {"Fn::Sub": "s3://${Bucket}/in"},
    }
    stack.update(
        {
            **NETWORK,
            "Bucket": {"Type": "AWS::S3::Bucket"},
            "Link": {"Type": "AWS::FSx::DataRepositoryAssociation", "Properties": link},
        }
    )
    filters = [{"Name": "file-system-id", "Values": [existing]}]
    found = fsx.describe_data_repository_associations(Filters=filters)["Associations"]
    assert [each["AssociationId"] for each in found] == [stack.ids()["Link"]]
    stack.delete()
    assert fsx.describe_data_repository_associations(Filters=filters)["Associations"] == []
    fsx.delete_file_system(FileSystemId=existing)
