"""AWS::EFS::FileSystem, its mount targets and access points."""

from __future__ import annotations

import json
from typing import Any, Self

from botocore.exceptions import ClientError

from localaws.cloudformation import tags
from localaws.cloudformation.aws import Aws, is_gone
from localaws.cloudformation.resource import Properties, Resource, changed, only
from localaws.cloudformation.resources.network import is_true


class ElasticFileSystem(Resource):
    """An EFS file system."""

    TYPE = "AWS::EFS::FileSystem"
    TAGS = "FileSystemTags"

    @classmethod
    def create(cls, aws: Aws, name: str, properties: Properties) -> Self:
        file_system = aws.client("efs").create_file_system(
            # EFS makes no second one for a token that it knows.
            CreationToken=name[-64:],
            Encrypted=is_true(properties.get("Encrypted", False)),
            Tags=properties.get("FileSystemTags", []),
            **only(properties, ("KmsKeyId", "PerformanceMode", "AvailabilityZoneName")),
            **_throughput(properties),
            Backup=properties.get("BackupPolicy", _NO_BACKUP)["Status"] == "ENABLED",
        )
        file_system_id = file_system["FileSystemId"]
        return cls(file_system_id, FileSystemId=file_system_id, Arn=file_system["FileSystemArn"])

    def complete(self, aws: Aws, properties: Properties) -> None:
        # Backups are on or off from the start.
        self._set_policies(aws.client("efs"), only(properties, ("BackupPolicy",)), properties)

    def _set_policies(self, efs: Any, old: Properties, new: Properties) -> None:
        """Set what differs of the settings that have an operation of their own."""
        file_system_id = self.physical_resource_id
        differs = set(changed(old, new))
        if "LifecyclePolicies" in differs:
            efs.put_lifecycle_configuration(
                FileSystemId=file_system_id, LifecyclePolicies=new.get("LifecyclePolicies", [])
            )
        if "FileSystemPolicy" in differs:
            _set_policy(efs, file_system_id, new.get("FileSystemPolicy"))
        if "FileSystemProtection" in differs:
            protection = new.get("FileSystemProtection", _PROTECTED)
            efs.update_file_system_protection(FileSystemId=file_system_id, **protection)
        if "BackupPolicy" in differs:
            efs.put_backup_policy(
                FileSystemId=file_system_id, BackupPolicy=new.get("BackupPolicy", _NO_BACKUP)
            )

    def update(self, aws: Aws, old: Properties, new: Properties) -> None:
        efs, file_system_id = aws.client("efs"), self.physical_resource_id
        if _throughput(old) != _throughput(new):
            efs.update_file_system(FileSystemId=file_system_id, **_throughput(new))
        self._set_policies(efs, old, new)
        gone, wanted = tags.difference(old, new, self.TAGS)
        if gone:
            efs.untag_resource(ResourceId=file_system_id, TagKeys=gone)
        if wanted:
            efs.tag_resource(ResourceId=file_system_id, Tags=wanted)

    def read(self, aws: Aws) -> Properties:
        efs, file_system_id = aws.client("efs"), self.physical_resource_id
        found = efs.describe_file_systems(FileSystemId=file_system_id)["FileSystems"][0]
        lifecycle = efs.describe_lifecycle_configuration(FileSystemId=file_system_id)
        policy = _ask(efs.describe_file_system_policy, file_system_id, "Policy", "null")
        names = ("Encrypted", "KmsKeyId", "PerformanceMode", "ThroughputMode")
        return {
            **only(found, (*names, "ProvisionedThroughputInMibps", "FileSystemProtection")),
            "BackupPolicy": _ask(
                efs.describe_backup_policy, file_system_id, "BackupPolicy", _NO_BACKUP
            ),
            "FileSystemPolicy": json.loads(policy),
            "LifecyclePolicies": lifecycle["LifecyclePolicies"],
            "FileSystemTags": found["Tags"],
        }

    def delete(self, aws: Aws) -> None:
        aws.client("efs").delete_file_system(FileSystemId=self.physical_resource_id)


_PROTECTED = {"ReplicationOverwriteProtection": "ENABLED"}
_NO_BACKUP = {"Status": "DISABLED"}
"""What a file system has where the template says nothing."""


def _ask(operation: Any, file_system_id: str, name: str, default: Any) -> Any:
    """Return a policy of a file system; EFS answers with an error where it has none."""
    try:
        return operation(FileSystemId=file_system_id)[name]
    except ClientError as error:
        if is_gone(error):
            return default
        raise


def _set_policy(efs: Any, file_system_id: str, policy: Any) -> None:
    if policy is None:
        efs.delete_file_system_policy(FileSystemId=file_system_id)
    else:
        efs.put_file_system_policy(FileSystemId=file_system_id, Policy=json.dumps(policy))


def _throughput(properties: Properties) -> dict[str, Any]:
    throughput: dict[str, Any] = {"ThroughputMode": properties.get("ThroughputMode", "bursting")}
    if "ProvisionedThroughputInMibps" in properties:
        mibps = float(properties["ProvisionedThroughputInMibps"])
        throughput["ProvisionedThroughputInMibps"] = mibps
    return throughput


class MountTarget(Resource):
    """A file system's address in a subnet."""

    TYPE = "AWS::EFS::MountTarget"
    TAGS = ""

    @classmethod
    def create(cls, aws: Aws, name: str, properties: Properties) -> Self:
        target = aws.client("efs").create_mount_target(
            **only(properties, ("FileSystemId", "SubnetId", "IpAddress", "SecurityGroups"))
        )
        return cls(
            target["MountTargetId"], Id=target["MountTargetId"], IpAddress=target["IpAddress"]
        )

    def update(self, aws: Aws, old: Properties, new: Properties) -> None:
        aws.client("efs").modify_mount_target_security_groups(
            MountTargetId=self.physical_resource_id, SecurityGroups=new["SecurityGroups"]
        )

    def read(self, aws: Aws) -> Properties:
        efs, target_id = aws.client("efs"), self.physical_resource_id
        (target,) = efs.describe_mount_targets(MountTargetId=target_id)["MountTargets"]
        groups = efs.describe_mount_target_security_groups(MountTargetId=target_id)
        return {
            **only(target, ("FileSystemId", "SubnetId", "IpAddress")),
            "SecurityGroups": groups["SecurityGroups"],
        }

    def delete(self, aws: Aws) -> None:
        aws.client("efs").delete_mount_target(MountTargetId=self.physical_resource_id)


class AccessPoint(Resource):
    """A way into a file system with a user and a root of its own."""

    TYPE = "AWS::EFS::AccessPoint"
    TAGS = "AccessPointTags"

    @classmethod
    def create(cls, aws: Aws, name: str, properties: Properties) -> Self:
        point = aws.client("efs").create_access_point(
            ClientToken=name[-64:],
            Tags=properties.get("AccessPointTags", []),
            **only(properties, ("FileSystemId", "RootDirectory")),
            **_posix_user(properties),
        )
        return cls(
            point["AccessPointId"],
            AccessPointId=point["AccessPointId"],
            Arn=point["AccessPointArn"],
        )

    def update(self, aws: Aws, old: Properties, new: Properties) -> None:
        efs, point = aws.client("efs"), self.physical_resource_id
        gone, wanted = tags.difference(old, new, self.TAGS)
        if gone:
            efs.untag_resource(ResourceId=point, TagKeys=gone)
        if wanted:
            efs.tag_resource(ResourceId=point, Tags=wanted)

    def read(self, aws: Aws) -> Properties:
        shown = aws.client("efs").describe_access_points(AccessPointId=self.physical_resource_id)
        point = shown["AccessPoints"][0]
        return {
            **only(point, ("FileSystemId", "PosixUser", "RootDirectory")),
            "AccessPointTags": point["Tags"],
        }

    def delete(self, aws: Aws) -> None:
        aws.client("efs").delete_access_point(AccessPointId=self.physical_resource_id)


def _posix_user(properties: Properties) -> Properties:
    """Return the user as EFS takes it: a template has numbers as text."""
    if "PosixUser" not in properties:
        return {}
    user = properties["PosixUser"]
    numbers = {name: int(user[name]) for name in ("Uid", "Gid")}
    others = [int(each) for each in user.get("SecondaryGids", [])]
    return {"PosixUser": {**numbers, **({"SecondaryGids": others} if others else {})}}
