"""What CloudFormation's own schema says about a resource type."""

from __future__ import annotations

from typing import Any

from localaws.cloudformation.resource import Properties

_MISSING = {
    "AWS::FSx::FileSystem": [
        "StorageType",
        "LustreConfiguration/DeploymentType",
        "LustreConfiguration/ImportPath",
        "LustreConfiguration/ExportPath",
        "LustreConfiguration/ImportedFileChunkSize",
        "LustreConfiguration/DriveCacheType",
        "LustreConfiguration/EfaEnabled",
    ],
}
"""What the schema leaves out, and CloudFormation's user guide marks "Update requires: Replacement".

https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/aws-properties-fsx-filesystem-lustreconfiguration.html
"""


_REPLACED_UNLESS = {"AWS::SSM::Document": ("UpdateMethod", "NewVersion")}
"""Types whose `conditionalCreateOnlyProperties` replace, unless a property has a value.

An auto-scaling group has such properties too, and is replaced for them only by the update policy
AutoScalingReplacingUpdate, which no stack here has.

https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/aws-resource-ssm-document.html#cfn-ssm-document-updatemethod
"""


def must_replace(resource_type: str, old: Properties, new: Properties) -> bool:
    """Return whether going from one to the other takes a new resource.

    The source is the resource provider schema's `createOnlyProperties`, in the copy that cfn-lint
    ships.
    """
    paths = _create_only(resource_type)
    if unless := _REPLACED_UNLESS.get(resource_type):
        name, value = unless
        if new.get(name) != value:
            paths += _create_only(resource_type, "conditionalCreateOnlyProperties")
    return any(_at(old, path) != _at(new, path) for path in paths)


def _create_only(resource_type: str, kind: str = "createOnlyProperties") -> list[list[str]]:
    """Return the paths of the properties that can only be given at creation."""
    # Takes half a second to import, and only updates need it.
    from cfnlint.schema import PROVIDER_SCHEMA_MANAGER, ResourceNotFoundError

    try:
        # The schemas hardly differ between regions, and this one has every type.
        schema = PROVIDER_SCHEMA_MANAGER.get_resource_schema("us-east-1", resource_type).schema
    except ResourceNotFoundError:
        return []
    pointers = [pointer.split("/")[2:] for pointer in schema.get(kind, [])]
    return pointers + [path.split("/") for path in _MISSING.get(resource_type, [])]


def _at(value: Any, path: list[str]) -> Any:
    """Return what lies at a path; `*` stands for each element of a list."""
    for index, name in enumerate(path):
        if name == "*":
            return [_at(item, path[index + 1 :]) for item in value or []]
        if not isinstance(value, dict):
            return None
        value = value.get(name)
    return value
