"""Public scanners find nothing in any template that we would not defend."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from app import build_app
from stacks.acknowledgments import ACCEPTED
from stacks.nag import read_violations
from tests.stacks.matrix import EVERY_RESOURCE, Synthesize, Template, construct_paths
from tests.stacks.scanning import declined, scanners
from tests.stacks.scanning.condition_keys import ConditionKeys
from tests.stacks.scanning.declined import Declined
from tests.stacks.scanning.environment import (
    REQUIREMENTS,
    ScannerEnvironment,
    scanner_environment,
)
from tests.stacks.scanning.scanners import Finding
from tests.stacks.statements import statements

# isort: split

from aws_cdk import Validations
from cdk_nag import HIPAASecurityChecks, NIST80053R4Checks, PCIDSS321Checks

pytestmark = pytest.mark.slow


@dataclass(frozen=True)
class Scanned:
    """The templates of the rows, each kind once, and where their resources come from."""

    files: tuple[Path, ...]
    types: Mapping[tuple[str, str], str]
    """File name and logical id to resource type."""
    paths: Mapping[tuple[str, str], str]
    """File name and logical id to construct path."""

    def unexplained(self, found: Iterable[Finding], known: Sequence[Declined]) -> list[str]:
        """Return the findings that nothing declines, and what declines nothing any more."""
        met = {finding: {(finding.rule, at) for at in self._places(finding)} for finding in found}
        declines = {(each.rule, each.at) for each in known}
        unexplained = {
            f"{finding.rule} at {self.paths[finding.template, finding.logical_id]}"
            for finding, ways in met.items()
            if not ways & declines
        }
        stale = declines.difference(*met.values())
        return [*sorted(unexplained), *(f"{rule} at {at}: not found" for rule, at in sorted(stale))]

    def _places(self, finding: Finding) -> tuple[str, str]:
        key = finding.template, finding.logical_id
        return self.paths[key], self.types[key]


@pytest.fixture(scope="module")
def environment() -> ScannerEnvironment:
    return scanner_environment()


@pytest.fixture(scope="module")
def scanned(synth: Synthesize, tmp_path_factory: pytest.TempPathFactory) -> Scanned:
    folder = tmp_path_factory.mktemp("scanned")
    written: dict[str, Path] = {}
    types: dict[tuple[str, str], str] = {}
    paths: dict[tuple[str, str], str] = {}
    for row in EVERY_RESOURCE:
        for stack, template in synth(row).templates.items():
            text = json.dumps(without_policies(with_outputs(template)), indent=1)
            if text in written:
                continue
            file = folder / f"{row}.{stack}.json"
            file.write_text(text, "utf-8")
            written[text] = file
            of_stack = construct_paths(synth(row).assembly, stack)
            for logical_id, resource in template["Resources"].items():
                types[file.name, logical_id] = resource["Type"]
                paths[file.name, logical_id] = of_stack[logical_id]
    return Scanned(tuple(written.values()), types, paths)


def with_outputs(template: Template) -> Any:
    """Put a text in place of each output of another stack, as CloudFormation does in a deploy.

    Scanners are older than Fn::GetStackOutput, and those that judge a deploy see such texts.
    """

    def filled(node: dict[str, Any]) -> Any:
        output = node.get("Fn::GetStackOutput")
        return node if output is None else f"{output['StackName']}.{output['OutputName']}"

    return json.loads(json.dumps(template), object_hook=filled)


def without_policies(template: Any) -> Any:
    """Leave out how CloudFormation makes and changes a group, which cfripper does not know."""
    resources = {
        logical_id: {
            key: value
            for key, value in resource.items()
            if key not in ("CreationPolicy", "UpdatePolicy")
        }
        for logical_id, resource in template["Resources"].items()
    }
    return {**template, "Resources": resources}


def test_every_package_of_the_scanners_is_pinned() -> None:
    lines = [
        line for line in REQUIREMENTS.read_text("utf-8").splitlines() if not line.startswith("#")
    ]
    assert lines
    assert [line for line in lines if not re.fullmatch(r"[\w.-]+==[\w.]+", line)] == []


@pytest.mark.soak  # cdk-nag's two packs and cfn-lint look at every row
def test_checkov(scanned: Scanned, environment: ScannerEnvironment) -> None:
    found = scanners.checkov(environment, scanned.files)
    assert scanned.unexplained(found, declined.CHECKOV) == []


@pytest.mark.soak  # cdk-nag's two packs and cfn-lint look at every row
def test_aws_control_tower(
    scanned: Scanned, environment: ScannerEnvironment, tmp_path: Path
) -> None:
    found = scanners.control_tower(environment, scanned.files, tmp_path)
    assert scanned.unexplained(found, declined.CONTROL_TOWER) == []


@pytest.mark.soak  # cdk-nag's two packs and cfn-lint look at every row
def test_cfripper(scanned: Scanned, environment: ScannerEnvironment, tmp_path: Path) -> None:
    found = scanners.cfripper(environment, scanned.files, tmp_path)
    assert scanned.unexplained(found, declined.CFRIPPER) == []


def test_other_packs_of_cdk_nag_find_what_the_two_packs_find(tmp_path: Path) -> None:
    """HIPAA, PCI DSS and NIST revision 4 know the same rules under other names."""
    app = build_app(outdir=str(tmp_path))
    Validations.of(app).add_plugins(HIPAASecurityChecks(), PCIDSS321Checks(), NIST80053R4Checks())
    app.synth()
    known = {(each.path, rule_name(each.rule)) for each in ACCEPTED}
    known |= {(each.at, each.rule) for each in declined.OTHER_PACKS}
    found = {(each.path, rule_name(each.rule)) for each in read_violations(tmp_path)}
    assert found - known == set()
    assert {(each.at, each.rule) for each in declined.OTHER_PACKS} - found == set()


@pytest.mark.soak  # it makes the scanners' environment, which takes two minutes
def test_every_condition_is_one_that_its_actions_know(
    synth: Synthesize, environment: ScannerEnvironment
) -> None:
    """A condition that a service does not fill in keeps its action from ever being allowed."""
    known = ConditionKeys.read(environment)
    unknown = {
        (each.where.partition("/")[0], action, key)
        for row in EVERY_RESOURCE
        for each in statements(synth(row))
        for action in each.actions
        for key in each.condition_keys
        if not known.has(action, key)
    }
    assert unknown == set()


def rule_name(rule: str) -> str:
    """Return a rule's name without its pack: `S3BucketReplicationEnabled`."""
    return re.sub(r"^[\w.]+-", "", rule)
