"""AWS::FSx::FileSystem and AWS::FSx::DataRepositoryAssociation."""

from __future__ import annotations

from typing import Any, Self

from localaws.cloudformation.aws import Aws
from localaws.cloudformation.resource import Properties, Resource, only


class LustreFileSystem(Resource):
    """An FSx file system."""

    TYPE = "AWS::FSx::FileSystem"

    @classmethod
    def create(cls, aws: Aws, name: str, properties: Properties) -> Self:
        file_system = aws.client("fsx").create_file_system(
            **only(
                properties,
                (
                    "FileSystemType",
                    "FileSystemTypeVersion",
                    "StorageType",
                    "SubnetIds",
                    "SecurityGroupIds",
                    "KmsKeyId",
                    "Tags",
                ),
            ),
            **_capacity(properties),
            LustreConfiguration=_numbers(properties),
        )["FileSystem"]
        return cls(
            file_system["FileSystemId"],
            Id=file_system["FileSystemId"],
            LustreMountName=file_system["LustreConfiguration"]["MountName"],
            DNSName=file_system["DNSName"],
            ResourceARN=file_system["ResourceARN"],
        )

    def update(self, aws: Aws, old: Properties, new: Properties) -> None:
        fsx, file_system_id = aws.client("fsx"), self.physical_resource_id
        before, after = _numbers(old), _numbers(new)
        changes = {name: value for name, value in after.items() if before.get(name) != value}
        request: dict[str, Any] = {}
        if _capacity(old) != _capacity(new):
            request |= _capacity(new)
        if changes:
            request["LustreConfiguration"] = changes
        if request:
            fsx.update_file_system(FileSystemId=file_system_id, **request)
        _set_tags(fsx, self.attributes["ResourceARN"], old, new)

    def delete(self, aws: Aws) -> None:
        aws.client("fsx").delete_file_system(FileSystemId=self.physical_resource_id)


_INTEGERS = (
    "PerUnitStorageThroughput",
    "AutomaticBackupRetentionDays",
    "ImportedFileChunkSize",
    "ThroughputCapacity",
)


def _numbers(properties: Properties) -> dict[str, Any]:
    """Return the Lustre configuration; templates write some of its numbers as strings."""
    return {
        name: int(value) if name in _INTEGERS else value
        for name, value in properties.get("LustreConfiguration", {}).items()
    }


def _capacity(properties: Properties) -> dict[str, int]:
    if "StorageCapacity" not in properties:
        return {}
    return {"StorageCapacity": int(properties["StorageCapacity"])}


class DataRepositoryAssociation(Resource):
    """The link between a folder of a file system and a prefix of a bucket."""

    TYPE = "AWS::FSx::DataRepositoryAssociation"

    @classmethod
    def create(cls, aws: Aws, name: str, properties: Properties) -> Self:
        association = aws.client("fsx").create_data_repository_association(
            **only(
                properties,
                (
                    "FileSystemId",
                    "FileSystemPath",
                    "DataRepositoryPath",
                    "BatchImportMetaDataOnCreate",
                    "ImportedFileChunkSize",
                    "S3",
                    "Tags",
                ),
            )
        )["Association"]
        return cls(
            association["AssociationId"],
            AssociationId=association["AssociationId"],
            ResourceARN=association["ResourceARN"],
        )

    def update(self, aws: Aws, old: Properties, new: Properties) -> None:
        fsx = aws.client("fsx")
        fsx.update_data_repository_association(
            AssociationId=self.physical_resource_id, **only(new, ("ImportedFileChunkSize", "S3"))
        )
        _set_tags(fsx, self.attributes["ResourceARN"], old, new)

    def delete(self, aws: Aws) -> None:
        # What the file system holds stays, as CloudFormation has it.
        aws.client("fsx").delete_data_repository_association(
            AssociationId=self.physical_resource_id, DeleteDataInFileSystem=False
        )


def _set_tags(fsx: Any, arn: str, old: Properties, new: Properties) -> None:
    before = {tag["Key"] for tag in old.get("Tags", [])}
    after = {tag["Key"] for tag in new.get("Tags", [])}
    if before - after:
        fsx.untag_resource(ResourceARN=arn, TagKeys=sorted(before - after))
    if after:
        fsx.tag_resource(ResourceARN=arn, Tags=new["Tags"])
