"""When a change replaces a resource."""

from __future__ import annotations

from typing import Any

import pytest

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
        ("AWS::Space::Rocket", {"Fuel": 1}, {"Fuel": 2}, False),
    ],
)
def test_create_only_properties_replace(
    resource_type: str, old: dict[str, Any], new: dict[str, Any], expected: bool
) -> None:
    assert must_replace(resource_type, old, new) is expected
