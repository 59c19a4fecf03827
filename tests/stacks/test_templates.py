"""What holds for every template, whatever the settings."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest
from cfnlint import ManualArgs
from cfnlint.config import ConfigMixIn
from cfnlint.decode import decode_str
from cfnlint.match import Match
from cfnlint.runner import Runner
from syrupy.assertion import SnapshotAssertion
from syrupy.extensions.json import JSONSnapshotExtension

from stacks.acknowledgments import ACCEPTED
from stacks.constructs.node_programs import PARTS as NODE_PARTS
from stacks.constructs.notebook_source import PARTS
from tests.stacks.matrix import (
    EVERY_RESOURCE,
    MATRIX,
    STACKS,
    Synthesize,
    Template,
    environment_of_nobody,
    read_template,
    region,
)

ROOT = Path(__file__).resolve().parents[2]

INSIDE = {"docker/entrypoint", "docker/horovod"}
"""Parts that come with another."""

NOT_LINTED = {
    "W3005": "CDK writes out every dependency, those too that a reference implies",
    "W3010": "the zones of one row are named, as a user may",
    "W6001": "FsxSubnetId is a subnet of NetworkStack by intent: one stack tells all about FSx",
}

WARNINGS = {
    (
        "StorageStack/Data/Bucket",
        "Annotation::@aws-cdk/aws-s3:accessLogsPolicyNotAdded",
    ): "tells who names a bucket for access logs that its policy has to let S3 write",
}
"""What the CDK CLI is to tell a user."""

LINTED = {*EVERY_RESOURCE, "frankfurt", "tokyo", "govcloud", "everything-set"}
"""What goes through cfn-lint each time, at a second for each row: every resource and partition."""

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
    for part in {"app.py", "cdk.json", "stacks", *PARTS, *NODE_PARTS["environment"]} - INSIDE:
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
    found = {(each.path, each.rule) for each in synth(row).violations} - set(WARNINGS)
    assert [each for each in found if not any(known.matches(*each) for known in ACCEPTED)] == []


def test_each_accepted_finding_is_still_found_with_some_settings(synth: Synthesize) -> None:
    found = {(each.path, each.rule) for row in MATRIX for each in synth(row).violations}
    assert [known for known in ACCEPTED if not any(known.matches(*each) for each in found)] == []


@pytest.mark.parametrize(
    "row", [pytest.param(row, marks=() if row in LINTED else pytest.mark.soak) for row in MATRIX]
)
def test_cfn_lint_finds_nothing(row: str, synth: Synthesize) -> None:
    for stack, template in synth(row).templates.items():
        assert lint_once(json.dumps(template), region(row)) == [], stack


@cache
def lint_once(template: str, where: str) -> list[Match]:
    """Lint a template for the region where it goes; many rows share one."""
    decoded, problems = decode_str(template)
    return [*problems, *linter(where).validate_template(decoded)]


@cache
def linter(where: str) -> Runner:
    """Load cfn-lint's rules, which takes as long as it takes to use them."""
    return Runner(ConfigMixIn(**ManualArgs(regions=[where], ignore_checks=list(NOT_LINTED))))


def copy_into(checkout: Path, part: str) -> None:
    target = checkout / part
    target.parent.mkdir(parents=True, exist_ok=True)
    if (ROOT / part).is_dir():
        shutil.copytree(ROOT / part, target, ignore=shutil.ignore_patterns("__pycache__"))
    elif (ROOT / part).exists():
        shutil.copy(ROOT / part, target)


def mask_asset_hashes(template: Template) -> Template:
    """Put a word in place of each asset's hash, which moves with the file's every byte."""
    masked: Template = json.loads(re.sub(r"[0-9a-f]{64}", "<asset hash>", json.dumps(template)))
    return masked


def test_stacks_in_the_vpc_are_other_templates_in_another_vpc(synth: Synthesize) -> None:
    """The CDK CLI leaves a stack alone whose template is the same text."""
    here, there = synth("default").templates, synth("old-addresses").templates
    for stack in ("StorageStack", "NotebookStack", "ClusterStack"):
        assert here[stack] != there[stack]
        assert {k: v for k, v in here[stack].items() if k != "Metadata"} == {
            k: v for k, v in there[stack].items() if k != "Metadata"
        }
    assert here["RegistryStack"] == there["RegistryStack"]
