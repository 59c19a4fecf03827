"""When a change replaces a resource."""

from __future__ import annotations

from typing import Any

import pytest
from cfnlint.schema import PROVIDER_SCHEMA_MANAGER, ResourceNotFoundError

from localaws.cloudformation.resources import by_type
from localaws.cloudformation.schema import must_replace


@pytest.mark.parametrize(
    ("resource_type", "old", "new", "expected"),
    [
        ("AWS::EC2::VPC", {"CidrBlock": "10.0.0.0/16"}, {"CidrBlock": "10.1.0.0/16"}, True),
        ("AWS::EC2::VPC", {"EnableDnsSupport": True}, {"EnableDnsSupport": False}, False),
        ("AWS::EFS::FileSystem", {"Encrypted": False}, {"Encrypted": True}, True),
        ("AWS::EFS::FileSystem", {"ThroughputMode": "bursting"}, {}, False),
        ("AWS::FSx::FileSystem", {"StorageCapacity": 1200}, {"StorageCapacity": 2400}, False),
        (
            "AWS::FSx::FileSystem",
            {"LustreConfiguration": {"DeploymentType": "SCRATCH_2"}},
            {"LustreConfiguration": {"DeploymentType": "PERSISTENT_2"}},
            True,
        ),
        (
            "AWS::FSx::FileSystem",
            {"LustreConfiguration": {"DataCompressionType": "NONE"}},
            {"LustreConfiguration": {"DataCompressionType": "LZ4"}},
            False,
        ),
        (
            "AWS::FSx::FileSystem",
            {"LustreConfiguration": {"EfaEnabled": False}},
            {"LustreConfiguration": {"EfaEnabled": True}},
            True,
        ),
        ("AWS::SageMaker::NotebookInstance", {"RootAccess": "Enabled"}, {}, False),
        ("AWS::SageMaker::NotebookInstance", {"SubnetId": "a"}, {"SubnetId": "b"}, True),
        ("AWS::SSM::Document", {"Content": "a"}, {"Content": "b"}, True),
        (
            "AWS::SSM::Document",
            {"Content": "a"},
            {"Content": "b", "UpdateMethod": "NewVersion"},
            False,
        ),
        (
            "AWS::AutoScaling::AutoScalingGroup",
            {"LaunchTemplate": {"Version": "1"}},
            {"LaunchTemplate": {"Version": "2"}},
            False,
        ),
        ("AWS::EC2::PlacementGroup", {"Strategy": "cluster"}, {"Strategy": "spread"}, True),
        ("AWS::Space::Rocket", {"Fuel": 1}, {"Fuel": 2}, False),
    ],
)
def test_create_only_properties_replace(
    resource_type: str, old: dict[str, Any], new: dict[str, Any], expected: bool
) -> None:
    assert must_replace(resource_type, old, new) is expected


UNTAGGED = {
    # Its tags are a map; the stack's are a list.
    "AWS::SSM::Parameter": "",
    "AWS::EKS::Nodegroup": "",
    # The older form of a schema says nothing of tags; the service takes them.
    "AWS::CodeBuild::Project": "Tags",
    # The schema does not say; the service takes them.
    "AWS::FSx::FileSystem": "Tags",
    "AWS::FSx::DataRepositoryAssociation": "Tags",
}
"""Where a class differs from the schema, with the reason."""


@pytest.mark.parametrize("resource_type", sorted(by_type()))
def test_class_says_as_the_schema_does_where_tags_go(resource_type: str) -> None:
    try:
        schema = PROVIDER_SCHEMA_MANAGER.get_resource_schema("us-east-1", resource_type).schema
    except ResourceNotFoundError:
        schema = {}
    tagging = schema.get("tagging") or {}
    expected = tagging.get("tagProperty", "").removeprefix("/properties/")
    if not tagging.get("taggable", False):
        expected = ""
    tags = by_type()[resource_type].TAGS
    assert tags == UNTAGGED.get(resource_type, expected)
