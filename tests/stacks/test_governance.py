"""What holds for everything: place, tags, protection, bounds of roles."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from app import build_app

BOUNDARY = "arn:aws:iam::123456789012:policy/boundary"
CONTEXT = {
    "aws_account": "123456789012",
    "aws_region": "eu-central-1",
    "project": "segmentation",
    "tags": "Team=Vision",
    "termination_protection": "true",
    "permissions_boundary": BOUNDARY,
    "role_path": "/training/",
}


@pytest.fixture(scope="module")
def assembly(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("governed")
    build_app(CONTEXT, outdir=str(folder)).synth()
    return folder


def resources(assembly: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    for template in assembly.glob("*.template.json"):
        for resource in json.loads(template.read_text("utf-8"))["Resources"].values():
            yield resource["Type"], resource.get("Properties", {})


def stacks(assembly: Path) -> list[dict[str, Any]]:
    artifacts = json.loads((assembly / "manifest.json").read_text("utf-8"))["artifacts"]
    return [each for each in artifacts.values() if each["type"] == "aws:cloudformation:stack"]


def test_each_stack_is_in_its_place_protected_and_tagged(assembly: Path) -> None:
    assert {stack["environment"] for stack in stacks(assembly)} == {
        "aws://123456789012/eu-central-1"
    }
    for stack in stacks(assembly):
        assert stack["properties"]["terminationProtection"] is True
        assert stack["properties"]["tags"] == {"Project": "segmentation", "Team": "Vision"}


def test_each_role_has_the_boundary_and_the_path(assembly: Path) -> None:
    roles = [properties for kind, properties in resources(assembly) if kind == "AWS::IAM::Role"]
    assert roles
    for role in roles:
        assert role["PermissionsBoundary"] == BOUNDARY
        assert role["Path"] == "/training/"


def test_each_policy_has_the_path(assembly: Path) -> None:
    for kind, properties in resources(assembly):
        if kind in ("AWS::IAM::ManagedPolicy", "AWS::IAM::InstanceProfile"):
            assert properties["Path"] == "/training/"


def tags_of(found: Any) -> dict[str, str]:
    """Return tags by key; most resources have a list of them, a node group a map."""
    return found if isinstance(found, dict) else {tag["Key"]: tag["Value"] for tag in found}


def test_what_takes_tags_has_them(assembly: Path) -> None:
    tagged = {
        kind: tags_of(properties["Tags"])
        for kind, properties in resources(assembly)
        if "Tags" in properties
    }
    assert {"AWS::EC2::VPC", "AWS::S3::Bucket", "AWS::KMS::Key"} <= tagged.keys()
    for kind, tags in tagged.items():
        assert tags["Project"] == "segmentation", kind
        assert tags["Team"] == "Vision", kind
