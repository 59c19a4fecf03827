"""AWS::FSx::FileSystem and AWS::FSx::DataRepositoryAssociation."""

from __future__ import annotations

from typing import Any, Self

from localaws.cloudformation import tags
from localaws.cloudformation.aws import Aws
from localaws.cloudformation.resource import CannotUpdate, Properties, Resource, changed, only
from localaws.cloudformation.resources.network import is_true


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
            LustreConfiguration=_configuration(properties),
        )["FileSystem"]
        return cls(
            file_system["FileSystemId"],
            Id=file_system["FileSystemId"],
            LustreMountName=file_system["LustreConfiguration"]["MountName"],
            DNSName=file_system["DNSName"],
            ResourceARN=file_system["ResourceARN"],
        )

    def update(self, aws: Aws, old: Properties, new: Properties) -> None:
        fsx = aws.client("fsx")
        differs = set(changed(old, new))
        if others := differs - _CHANGEABLE:
            raise CannotUpdate(", ".join(sorted(others)))
        request = only(
            new, ("FileSystemTypeVersion",) if "FileSystemTypeVersion" in differs else ()
        )
        if _capacity(old) != _capacity(new):
            request |= _capacity(new)
        before, after = _configuration(old), _configuration(new)
        if changes := {name: value for name, value in after.items() if before.get(name) != value}:
            request["LustreConfiguration"] = changes
        if request:
            fsx.update_file_system(FileSystemId=self.physical_resource_id, **request)
        _set_tags(fsx, self.attributes["ResourceARN"], old, new)

    def read(self, aws: Aws) -> Properties:
        fsx = aws.client("fsx")
        found = fsx.describe_file_systems(FileSystemIds=[self.physical_resource_id])
        (shown,) = found["FileSystems"]
        configuration = dict(shown["LustreConfiguration"])
        linked = configuration.pop("DataRepositoryConfiguration", {})
        configuration |= only(linked, ("ImportPath", "ExportPath", "AutoImportPolicy"))
        names = ("FileSystemType", "StorageCapacity", "StorageType", "SubnetIds", "KmsKeyId")
        return {
            **only(shown, (*names, "FileSystemTypeVersion")),
            "LustreConfiguration": configuration,
            "Tags": shown.get("Tags", []),
        }

    def delete(self, aws: Aws) -> None:
        aws.client("fsx").delete_file_system(FileSystemId=self.physical_resource_id)


_CHANGEABLE = {"FileSystemTypeVersion", "StorageCapacity", "LustreConfiguration", "Tags"}

_INTEGERS = (
    "PerUnitStorageThroughput",
    "AutomaticBackupRetentionDays",
    "ImportedFileChunkSize",
    "ThroughputCapacity",
    "Iops",
)
_BOOLEANS = ("EfaEnabled", "CopyTagsToBackups")

_DEFAULTS = {"DataCompressionType": "NONE"}
"""What a setting goes back to when a template no longer has it."""


def _configuration(properties: Properties) -> dict[str, Any]:
    """Return the Lustre configuration, its numbers and booleans as such.

    Templates write some of them as strings.
    """
    configuration = properties.get("LustreConfiguration", {})
    return {**_DEFAULTS, **{name: _typed(name, value) for name, value in configuration.items()}}


def _typed(name: str, value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _typed(key, item) for key, item in value.items()}
    if name in _INTEGERS:
        return int(value)
    return is_true(value) if name in _BOOLEANS else value


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

    def read(self, aws: Aws) -> Properties:
        fsx = aws.client("fsx")
        found = fsx.describe_data_repository_associations(
            AssociationIds=[self.physical_resource_id]
        )
        (shown,) = found["Associations"]
        return only(
            shown,
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

    def delete(self, aws: Aws) -> None:
        # What the file system holds stays, as CloudFormation has it.
        aws.client("fsx").delete_data_repository_association(
            AssociationId=self.physical_resource_id, DeleteDataInFileSystem=False
        )


def _set_tags(fsx: Any, arn: str, old: Properties, new: Properties) -> None:
    gone, wanted = tags.difference(old, new)
    if gone:
        fsx.untag_resource(ResourceARN=arn, TagKeys=gone)
    if wanted:
        fsx.tag_resource(ResourceARN=arn, Tags=wanted)
