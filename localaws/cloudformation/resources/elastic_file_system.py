"""AWS::EFS::FileSystem, its mount targets and access points."""

from __future__ import annotations

import json
from typing import Any, Self

from localaws.cloudformation.aws import Aws
from localaws.cloudformation.resource import CannotUpdate, Properties, Resource, only
from localaws.cloudformation.resources.network import is_true


class ElasticFileSystem(Resource):
    """An EFS file system."""

    TYPE = "AWS::EFS::FileSystem"

    @classmethod
    def create(cls, aws: Aws, name: str, properties: Properties) -> Self:
        efs = aws.client("efs")
        file_system = efs.create_file_system(
            # EFS makes no second one for a token that it knows.
            CreationToken=name[-64:],
            Encrypted=is_true(properties.get("Encrypted", False)),
            Tags=properties.get("FileSystemTags", []),
            **only(
                properties,
                (
                    "KmsKeyId",
                    "PerformanceMode",
                    "ThroughputMode",
                    "ProvisionedThroughputInMibps",
                    "AvailabilityZoneName",
                ),
            ),
            Backup=properties.get("BackupPolicy", {}).get("Status") == "ENABLED",
        )
        file_system_id = file_system["FileSystemId"]
        made = cls(file_system_id, FileSystemId=file_system_id, Arn=file_system["FileSystemArn"])
        made._set_policies(efs, properties)
        return made

    def _set_policies(self, efs: Any, properties: Properties) -> None:
        file_system_id = self.physical_resource_id
        efs.put_lifecycle_configuration(
            FileSystemId=file_system_id, LifecyclePolicies=properties.get("LifecyclePolicies", [])
        )
        if "FileSystemPolicy" in properties:
            policy = json.dumps(properties["FileSystemPolicy"])
            efs.put_file_system_policy(FileSystemId=file_system_id, Policy=policy)

    def update(self, aws: Aws, old: Properties, new: Properties) -> None:
        efs, file_system_id = aws.client("efs"), self.physical_resource_id
        efs.update_file_system(
            FileSystemId=file_system_id,
            **only(new, ("ThroughputMode", "ProvisionedThroughputInMibps")),
        )
        self._set_policies(efs, new)
        if "FileSystemPolicy" in old and "FileSystemPolicy" not in new:
            efs.delete_file_system_policy(FileSystemId=file_system_id)
        status = new.get("BackupPolicy", {}).get("Status", "DISABLED")
        efs.put_backup_policy(FileSystemId=file_system_id, BackupPolicy={"Status": status})
        if new.get("FileSystemTags"):
            efs.tag_resource(ResourceId=file_system_id, Tags=new["FileSystemTags"])

    def delete(self, aws: Aws) -> None:
        aws.client("efs").delete_file_system(FileSystemId=self.physical_resource_id)


class MountTarget(Resource):
    """A file system's address in a subnet."""

    TYPE = "AWS::EFS::MountTarget"

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

    def delete(self, aws: Aws) -> None:
        aws.client("efs").delete_mount_target(MountTargetId=self.physical_resource_id)


class AccessPoint(Resource):
    """A way into a file system with a user and a root of its own."""

    TYPE = "AWS::EFS::AccessPoint"

    @classmethod
    def create(cls, aws: Aws, name: str, properties: Properties) -> Self:
        point = aws.client("efs").create_access_point(
            ClientToken=name[-64:],
            Tags=properties.get("AccessPointTags", []),
            **only(properties, ("FileSystemId", "PosixUser", "RootDirectory")),
        )
        return cls(
            point["AccessPointId"],
            AccessPointId=point["AccessPointId"],
            Arn=point["AccessPointArn"],
        )

    def update(self, aws: Aws, old: Properties, new: Properties) -> None:
        raise CannotUpdate("AccessPointTags")

    def delete(self, aws: Aws) -> None:
        aws.client("efs").delete_access_point(AccessPointId=self.physical_resource_id)
