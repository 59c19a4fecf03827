"""What holds for every resource of every stack, whatever the settings."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from functools import cache
from typing import Any

import pytest
from cfnlint.schema import PROVIDER_SCHEMA_MANAGER, ResourceNotFoundError

from tests.stacks.matrix import MATRIX, Synthesize, all_resources, properties, region
from training.images.base_images import ACCOUNTS
from training.outputs import PROJECT_TAG

every_row = pytest.mark.parametrize("row", MATRIX)

KEPT_TYPES = {
    "AWS::ECR::Repository",
    "AWS::EFS::FileSystem",
    "AWS::KMS::Key",
    "AWS::Logs::LogGroup",
    "AWS::S3::Bucket",
    "AWS::S3::BucketPolicy",
}
"""What holds data, opens or guards it; FSx for Lustre caches the bucket and has a setting."""

GOES_WITH_ITS_CLUSTER = "/aws/eks/"
"""How the names of EKS's log groups begin. It names them after the cluster, so that one that stayed
would be in the way of the next cluster of the name."""

OPENS_NOTHING_THAT_STAYS = "NotificationStack/PeopleKey"
"""How the key of the topic is called: it encrypts messages on their way."""

# https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/cloudformation-limits.html
MOST_RESOURCES, MOST_OUTPUTS, LARGEST_TEMPLATE_BYTES = 500, 200, 1_000_000

SECRET_TEXT = re.compile(
    r"AKIA[0-9A-Z]{16}|ASIA[0-9A-Z]{16}|-----BEGIN|gh[pousr]_[A-Za-z0-9]{30}|github_pat_|glpat-"
)
"""Keys and tokens as AWS, OpenSSL, GitHub and GitLab spell them."""

NO_SECRETS = {("ImagePullCredentialsType", "CODEBUILD"), ("HttpTokens", "required")}
"""Whose credentials pull a build's image; that an instance's metadata ask for a token."""
SECRET_NAME = re.compile(r"password|passwd|secret|token|credential", re.I)

FROM_ELSEWHERE = re.compile(r"arn:|\{\{resolve:")
"""A secret is named by its ARN, or read by CloudFormation at deploy time."""


LOOKED_UP = r"AWS::SSM::Parameter::Value<(String|AWS::EC2::Image::Id)>"

ARN_PARTITION = re.compile(r"arn:(aws[a-z-]*):")


@every_row
def test_data_and_keys_outlive_the_stacks(row: str, synth: Synthesize) -> None:
    for where, resource in all_resources(synth(row)):
        name = str(resource.get("Properties", {}).get("LogGroupName", ""))
        if name.startswith(GOES_WITH_ITS_CLUSTER) or where.startswith(OPENS_NOTHING_THAT_STAYS):
            assert resource["DeletionPolicy"] == "Delete", where
        elif resource["Type"] in KEPT_TYPES:
            assert resource["DeletionPolicy"] in ("Retain", "RetainExceptOnCreate"), where
            assert resource.get("UpdateReplacePolicy") == "Retain", where


def test_each_type_that_is_kept_is_made_by_default(synth: Synthesize) -> None:
    made = {resource["Type"] for _, resource in all_resources(synth("default"))}
    assert made >= KEPT_TYPES


@every_row
def test_what_stays_is_not_left_by_a_deploy_that_fails(row: str, synth: Synthesize) -> None:
    """But the bucket of access logs and its policy: S3 may have written to it by then."""
    left = {
        where.partition("/")[2][:14]
        for where, resource in all_resources(synth(row))
        if resource.get("DeletionPolicy") == "Retain"
    }
    assert left <= {"DataAccessLogs"}


@every_row
def test_every_key_is_rotated_and_every_log_group_encrypted(row: str, synth: Synthesize) -> None:
    for template in synth(row).templates.values():
        for key in properties(template, "AWS::KMS::Key"):
            assert key["EnableKeyRotation"] is True
        for group in properties(template, "AWS::Logs::LogGroup"):
            assert group["KmsKeyId"]
            assert group["RetentionInDays"]


@every_row
def test_everything_that_takes_tags_has_the_projects(row: str, synth: Synthesize) -> None:
    project = MATRIX[row].get("project", "distributed-mask-rcnn")
    for where, resource in all_resources(synth(row)):
        name = tags_property(resource["Type"])
        if name:
            tags = resource.get("Properties", {}).get(name, [])
            assert (PROJECT_TAG, project) in pairs(tags), f"{where} ({resource['Type']})"


@every_row
def test_no_stack_needs_a_lambda(row: str, synth: Synthesize) -> None:
    types = {resource["Type"] for _, resource in all_resources(synth(row))}
    assert not [each for each in types if "Lambda" in each or each.startswith("Custom::")]
    assert "AWS::CloudFormation::CustomResource" not in types


@every_row
def test_templates_keep_to_the_limits_of_cloudformation(row: str, synth: Synthesize) -> None:
    for stack, template in synth(row).templates.items():
        assert len(template["Resources"]) <= MOST_RESOURCES, stack
        assert len(template.get("Outputs", {})) <= MOST_OUTPUTS, stack
        assert len(json.dumps(template)) <= LARGEST_TEMPLATE_BYTES, stack


@every_row
def test_templates_hold_no_secret_and_ask_for_none(row: str, synth: Synthesize) -> None:
    for stack, template in synth(row).templates.items():
        for name, parameter in template.get("Parameters", {}).items():
            # What CloudFormation itself looks up, and nobody gives.
            assert re.fullmatch(LOOKED_UP, parameter["Type"]), f"{stack}: {name}"
            assert parameter["Default"].startswith(("/cdk-bootstrap/", "/aws/service/")), stack
        assert not SECRET_TEXT.search(json.dumps(template)), stack
    for where, resource in all_resources(synth(row)):
        for name, value in texts(resource.get("Properties", {})):
            if SECRET_NAME.search(name) and (name, value) not in NO_SECRETS:
                assert FROM_ELSEWHERE.search(value), f"{where}: {name}"


@every_row
def test_no_account_is_named_that_nobody_chose(row: str, synth: Synthesize) -> None:
    """Without one in the settings, CloudFormation fills it in where it deploys."""
    # Amazon's own have the base images, which a build may pull.
    chosen = json.dumps([MATRIX[row], list(ACCOUNTS.values())])
    for stack, template in synth(row).templates.items():
        accounts = set(re.findall(r"\b\d{12}\b", json.dumps(template)))
        assert [each for each in accounts if each not in chosen] == [], stack


@every_row
def test_no_arn_names_a_partition_other_than_the_regions(row: str, synth: Synthesize) -> None:
    """China and GovCloud have partitions of their own, in which `arn:aws:` names nothing."""
    chosen = set(ARN_PARTITION.findall(json.dumps(MATRIX[row])))
    if "aws_region" in MATRIX[row]:
        chosen.add(partition(region(row)))
    for stack, template in synth(row).templates.items():
        assert set(ARN_PARTITION.findall(json.dumps(template))) <= chosen, stack


def partition(region_name: str) -> str:
    # https://docs.aws.amazon.com/IAM/latest/UserGuide/reference-arns.html
    prefixes = {"cn-": "aws-cn", "us-gov-": "aws-us-gov"}
    return next((name for start, name in prefixes.items() if region_name.startswith(start)), "aws")


@cache
def tags_property(resource_type: str) -> str | None:
    """Return the property that takes tags, by the schema of AWS that cfn-lint carries."""
    try:
        schema = PROVIDER_SCHEMA_MANAGER.get_resource_schema("us-east-1", resource_type).schema
    except ResourceNotFoundError:
        return None
    tagging = schema.get("tagging", {"taggable": "Tags" in schema["properties"]})
    if not tagging.get("taggable", True):
        return None
    return str(tagging.get("tagProperty", "/properties/Tags")).rpartition("/")[2]


def pairs(tags: Any) -> set[tuple[str, str]]:
    """Read tags written as a list of Key and Value, or as a mapping."""
    if isinstance(tags, dict):
        return set(tags.items())
    # A launch template's are a list for each kind of resource.
    single = [tag for each in tags for tag in each.get("Tags", [each])]
    return {(tag["Key"], json.dumps(tag["Value"]).strip('"')) for tag in single}


def texts(node: Any, name: str = "") -> Iterator[tuple[str, str]]:
    """Yield each text at any depth, with the nearest name above it."""
    if isinstance(node, dict):
        for key, value in node.items():
            yield from texts(value, key)
    elif isinstance(node, list):
        for value in node:
            yield from texts(value, name)
    elif isinstance(node, str):
        yield name, node
