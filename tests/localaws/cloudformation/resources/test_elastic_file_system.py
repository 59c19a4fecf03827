"""EFS file systems and mount targets, made and changed by a stack."""

from __future__ import annotations

import json
from typing import Any

import pytest
from botocore.exceptions import ClientError

from tests.conftest import LocalAws
from tests.localaws.cloudformation.stack_of_test import Resources, Stack


def policy(action: str) -> dict[str, Any]:
    statement = {"Effect": "Allow", "Principal": {"AWS": "*"}, "Action": [action]}
    return {"Version": "2012-10-17", "Statement": [statement]}


def shared(**properties: Any) -> Resources:
    return {"Shared": {"Type": "AWS::EFS::FileSystem", "Properties": properties}}


NETWORK: Resources = {
    "Vpc": {"Type": "AWS::EC2::VPC", "Properties": {"CidrBlock": "10.0.0.0/24"}},
    "Subnet": {
        "Type": "AWS::EC2::Subnet",
        "Properties": {"VpcId": {"Ref": "Vpc"}, "CidrBlock": "10.0.0.0/25"},
    },
    "Group": {
        "Type": "AWS::EC2::SecurityGroup",
        "Properties": {"GroupDescription": "EFS", "VpcId": {"Ref": "Vpc"}},
    },
    "Other": {
        "Type": "AWS::EC2::SecurityGroup",
        "Properties": {"GroupDescription": "EFS too", "VpcId": {"Ref": "Vpc"}},
    },
}


class Efs:
    """What EFS says of one file system."""

    def __init__(self, aws: LocalAws, file_system_id: str) -> None:
        self.client = aws.client("efs")
        self.file_system_id = file_system_id

    def file_system(self) -> dict[str, Any]:
        answer = self.client.describe_file_systems(FileSystemId=self.file_system_id)
        return dict(answer["FileSystems"][0])

    def policy(self) -> Any:
        answer = self.client.describe_file_system_policy(FileSystemId=self.file_system_id)
        return json.loads(answer["Policy"])

    def backup(self) -> str:
        answer = self.client.describe_backup_policy(FileSystemId=self.file_system_id)
        return str(answer["BackupPolicy"]["Status"])

    def lifecycle(self) -> Any:
        answer = self.client.describe_lifecycle_configuration(FileSystemId=self.file_system_id)
        return answer["LifecyclePolicies"]


def test_settings_are_seen_and_change_in_place(local_aws: LocalAws, stack: Stack) -> None:
    first = shared(
        Encrypted=True,
        ThroughputMode="elastic",
        FileSystemPolicy=policy("elasticfilesystem:ClientMount"),
        BackupPolicy={"Status": "ENABLED"},
        LifecyclePolicies=[{"TransitionToIA": "AFTER_30_DAYS"}],
        FileSystemProtection={"ReplicationOverwriteProtection": "DISABLED"},
        FileSystemTags=[{"Key": "team", "Value": "vision"}, {"Key": "gone", "Value": "soon"}],
    )
    made = stack.create(first)
    assert made["StackStatus"] == "CREATE_COMPLETE", made.get("StackStatusReason")
    ids = stack.ids()
    efs = Efs(local_aws, ids["Shared"])
    seen = efs.file_system()
    assert (seen["Encrypted"], seen["ThroughputMode"]) == (True, "elastic")
    assert seen["FileSystemProtection"] == {"ReplicationOverwriteProtection": "DISABLED"}
    assert efs.policy() == policy("elasticfilesystem:ClientMount")
    assert efs.backup() == "ENABLED"
    assert efs.lifecycle() == [{"TransitionToIA": "AFTER_30_DAYS"}]

    second = shared(
        Encrypted=True,
        ThroughputMode="provisioned",
        ProvisionedThroughputInMibps=128,
        FileSystemPolicy=policy("elasticfilesystem:ClientWrite"),
        LifecyclePolicies=[
            {"TransitionToIA": "AFTER_7_DAYS"},
            {"TransitionToArchive": "AFTER_90_DAYS"},
        ],
        FileSystemTags=[{"Key": "team", "Value": "speech"}],
    )
    changed = stack.update(second)
    assert changed["StackStatus"] == "UPDATE_COMPLETE", changed.get("StackStatusReason")
    assert stack.ids() == ids
    seen = efs.file_system()
    assert (seen["ThroughputMode"], seen["ProvisionedThroughputInMibps"]) == ("provisioned", 128)
    assert seen["FileSystemProtection"] == {"ReplicationOverwriteProtection": "ENABLED"}
    assert seen["Tags"] == [{"Key": "team", "Value": "speech"}]
    assert efs.policy() == policy("elasticfilesystem:ClientWrite")
    assert len(efs.lifecycle()) == 2
    with pytest.raises(ClientError, match="PolicyNotFound"):
        efs.backup()

    stack.update(shared(Encrypted=True, ThroughputMode="bursting"))
    seen = efs.file_system()
    assert seen["ThroughputMode"] == "bursting"
    assert "ProvisionedThroughputInMibps" not in seen
    assert efs.lifecycle() == []
    with pytest.raises(ClientError, match="PolicyNotFound"):
        efs.policy()
    stack.delete()


@pytest.mark.parametrize(
    "properties",
    [
        {"ThroughputMode": "provisioned"},
        {"ThroughputMode": "elastic", "ProvisionedThroughputInMibps": 64},
    ],
)
def test_provisioned_throughput_goes_with_its_mode_only(
    stack: Stack, properties: dict[str, Any]
) -> None:
    made = stack.create(shared(**properties))
    assert made["StackStatus"] == "ROLLBACK_COMPLETE"
    assert "ProvisionedThroughputInMibps is for" in made["StackStatusReason"]


def test_existing_file_system_gets_mount_targets_and_outlives_them(
    local_aws: LocalAws, stack: Stack
) -> None:
    efs = local_aws.client("efs")
    existing = efs.create_file_system(CreationToken=stack.name)["FileSystemId"]

    def target(group: str) -> Resources:
        properties = {
            "FileSystemId": existing,
            "SubnetId": {"Ref": "Subnet"},
            "SecurityGroups": [{"Ref": group}],
        }
        return {**NETWORK, "Target": {"Type": "AWS::EFS::MountTarget", "Properties": properties}}

    stack.create(target("Group"))
    ids = stack.ids()
    (seen,) = efs.describe_mount_targets(FileSystemId=existing)["MountTargets"]
    assert (seen["MountTargetId"], seen["SubnetId"]) == (ids["Target"], ids["Subnet"])
    stack.update(target("Other"))
    assert stack.ids() == ids
    groups = efs.describe_mount_target_security_groups(MountTargetId=ids["Target"])
    assert groups["SecurityGroups"] == [ids["Other"]]
    stack.delete()
    assert efs.describe_mount_targets(FileSystemId=existing)["MountTargets"] == []
    efs.delete_file_system(FileSystemId=existing)
