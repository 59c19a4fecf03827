"""What holds for every template, whatever the settings."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from cfnlint import ManualArgs
from cfnlint.api import lint
from cfnlint.match import Match
from syrupy.assertion import SnapshotAssertion
from syrupy.extensions.json import JSONSnapshotExtension

from stacks.acknowledgments import ACCEPTED
from tests.stacks.matrix import (
    MATRIX,
    STACKS,
    Synthesize,
    Template,
    environment_of_nobody,
    properties,
    read_template,
)

ROOT = Path(__file__).resolve().parents[2]

DATA_TYPES = {
    "AWS::ECR::Repository",
    "AWS::EFS::FileSystem",
    "AWS::KMS::Key",
    "AWS::Logs::LogGroup",
    "AWS::S3::Bucket",
}
"""What holds data or opens it; FSx for Lustre is a cache of the bucket and has a setting."""

NOT_LINTED = {
    "W3005": "CDK writes out every dependency, those too that a reference implies",
    "W3010": "the zones of one row are named, as a user may",
    "W6001": "FsxSubnetId is a subnet of NetworkStack by intent: one stack tells all about FSx",
}

every_row = pytest.mark.parametrize("row", MATRIX)
every_stack = pytest.mark.parametrize("stack", STACKS)


@every_stack
def test_template_is_as_last_looked_at(
    stack: str, synth: Synthesize, snapshot: SnapshotAssertion
) -> None:
    template = mask_asset_hashes(synth("default").templates[stack])
    assert template == snapshot(extension_class=JSONSnapshotExtension)


def test_templates_are_the_same_in_another_checkout_without_account_and_region(
    synth: Synthesize, tmp_path: Path
) -> None:
    checkout = tmp_path / "another place" / "checkout"
    for part in ("app.py", "cdk.json", "stacks", "training/__init__.py"):
        copy_into(checkout, part)
    for part in ("training/outputs.py", "training/errors.py"):
        copy_into(checkout, part)

    subprocess.run(
        [sys.executable, "app.py"],
        cwd=checkout,
        env={**environment_of_nobody(), "CDK_OUTDIR": str(tmp_path / "out")},
        check=True,
    )

    for stack in STACKS:
        assert read_template(tmp_path / "out", stack) == synth("default").templates[stack]


@every_row
def test_cdk_nag_and_cdk_find_nothing_but_what_is_accepted(row: str, synth: Synthesize) -> None:
    accepted = {(each.path, each.rule) for each in ACCEPTED}
    assert [v for v in synth(row).violations if (v.path, v.rule) not in accepted] == []


def test_each_accepted_finding_is_still_found_with_some_settings(synth: Synthesize) -> None:
    found = {(each.path, each.rule) for row in MATRIX for each in synth(row).violations}
    assert [each for each in ACCEPTED if (each.path, each.rule) not in found] == []


@every_row
def test_cfn_lint_finds_nothing(row: str, synth: Synthesize) -> None:
    for stack in STACKS:
        assert lint_once(json.dumps(synth(row).templates[stack])) == [], stack


@every_row
def test_data_and_keys_outlive_the_stacks(row: str, synth: Synthesize) -> None:
    kept = [
        (resource["Type"], resource.get("DeletionPolicy"), resource.get("UpdateReplacePolicy"))
        for template in synth(row).templates.values()
        for resource in template["Resources"].values()
        if resource["Type"] in DATA_TYPES
    ]
    assert {resource_type for resource_type, *_ in kept} == DATA_TYPES
    assert {tuple(policies) for _, *policies in kept} == {("Retain", "Retain")}


@every_row
def test_no_security_group_admits_an_address(row: str, synth: Synthesize) -> None:
    for template in synth(row).templates.values():
        for rule in ingress_rules(template):
            assert "SourceSecurityGroupId" in rule
            assert not {"CidrIp", "CidrIpv6", "SourcePrefixListId"} & set(rule)


@every_row
def test_every_security_group_rule_says_why(row: str, synth: Synthesize) -> None:
    for template in synth(row).templates.values():
        for rule in [*ingress_rules(template), *egress_rules(template)]:
            assert len(rule["Description"]) > 10, rule


@every_row
def test_no_statement_allows_a_wildcard_action_outside_key_policies(
    row: str, synth: Synthesize
) -> None:
    for template in synth(row).templates.values():
        for resource in template["Resources"].values():
            if resource["Type"] != "AWS::KMS::Key":
                for statement in allow_statements(resource):
                    assert not [each for each in as_list(statement["Action"]) if "*" in each]


@every_row
def test_every_key_is_rotated(row: str, synth: Synthesize) -> None:
    keys = [
        key
        for template in synth(row).templates.values()
        for key in properties(template, "AWS::KMS::Key")
    ]
    assert [key["EnableKeyRotation"] for key in keys] == [True] * len(STACKS)


@every_row
def test_no_stack_needs_a_lambda(row: str, synth: Synthesize) -> None:
    types = {
        resource["Type"]
        for template in synth(row).templates.values()
        for resource in template["Resources"].values()
    }
    assert not [each for each in types if "Lambda" in each or each.startswith("Custom::")]
    assert "AWS::CloudFormation::CustomResource" not in types


@cache
def lint_once(template: str) -> list[Match]:
    """Lint a template; many rows share one."""
    matches: list[Match] = lint(
        template, config=ManualArgs(regions=["us-west-2"], ignore_checks=list(NOT_LINTED))
    )
    return matches


def copy_into(checkout: Path, part: str) -> None:
    target = checkout / part
    target.parent.mkdir(parents=True, exist_ok=True)
    if (ROOT / part).is_dir():
        shutil.copytree(ROOT / part, target, ignore=shutil.ignore_patterns("__pycache__"))
    else:
        shutil.copy(ROOT / part, target)


def mask_asset_hashes(template: Template) -> Template:
    """Put a word in place of each asset's hash, which moves with the file's every byte."""
    masked: Template = json.loads(re.sub(r"[0-9a-f]{64}", "<asset hash>", json.dumps(template)))
    return masked


def ingress_rules(template: Template) -> Iterator[dict[str, Any]]:
    yield from properties(template, "AWS::EC2::SecurityGroupIngress")
    for group in properties(template, "AWS::EC2::SecurityGroup"):
        yield from group.get("SecurityGroupIngress", [])


def egress_rules(template: Template) -> Iterator[dict[str, Any]]:
    yield from properties(template, "AWS::EC2::SecurityGroupEgress")
    for group in properties(template, "AWS::EC2::SecurityGroup"):
        yield from group.get("SecurityGroupEgress", [])


def allow_statements(node: Any) -> Iterator[dict[str, Any]]:
    """Yield every Allow statement at any depth."""
    if isinstance(node, dict):
        if node.get("Effect") == "Allow":
            yield node
        for value in node.values():
            yield from allow_statements(value)
    elif isinstance(node, list):
        for value in node:
            yield from allow_statements(value)


def as_list(value: str | list[str]) -> list[str]:
    return [value] if isinstance(value, str) else value
