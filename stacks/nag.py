"""cdk-nag at every synth: the AwsSolutions and NIST 800-53 rules, and what they find.

Whatever a rule of the packs finds is refused, a warning too: only what was looked at and accepted
in stacks/acknowledgments.py stays. Warnings of CDK's own constructs go to the CDK CLI, which
prints them; what CDK calls an error is refused as well.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import jsii
from aws_cdk import (
    App,
    IPolicyValidationContext,
    IPolicyValidationPlugin,
    PolicyValidationPluginReport,
    PolicyViolation,
    Validations,
)
from cdk_nag import AwsSolutionsChecks, NagPack, NIST80053R5Checks

from stacks.acknowledgments import AcceptedFinding
from training.errors import PreflightError

REPORT_ELSEWHERE = {"@aws-cdk/core:failSynthOnValidationErrors": False}
"""Context that makes CDK write its report to the assembly and go on.

Otherwise a finding ends `app.synth()` in an exception of Node's, shown as a Python traceback.
"""

REFUSED = ("error", "fatal")
"""Severities that end the synth."""


@dataclass(frozen=True, kw_only=True)
class Violation:
    """One finding of one rule at one construct."""

    path: str
    """Of the construct: `StorageStack/Data/Bucket/Resource`."""
    rule: str
    """With the finding where a rule has several: `AwsSolutions-IAM5[Resource::*]`."""
    description: str
    is_refused: bool
    """Whether it ends the synth. Else it is a warning of CDK's own, for the CLI to print."""


def add_checks(app: App, accepted: Sequence[AcceptedFinding]) -> None:
    """Check every stack of the app against both packs when it is synthesized."""
    for pack in (AwsSolutionsChecks(), NIST80053R5Checks()):
        Validations.of(app).add_plugins(PackWithout(pack, accepted))


@jsii.implements(IPolicyValidationPlugin)
class PackWithout:
    """A pack of cdk-nag without the findings that are accepted.

    CDK's own acknowledgments take the exact text of a finding, and those of AwsSolutions-IAM5 hold
    what the settings decide: regions, names, references to other stacks. They are known only when
    the app is synthesized, so they are compared here.
    """

    def __init__(self, pack: NagPack, accepted: Sequence[AcceptedFinding]) -> None:
        self._pack = pack
        self._accepted = accepted

    @property
    def name(self) -> str:
        """How the report names the pack."""
        return self._pack.read_pack_name

    @property
    def version(self) -> str | None:
        """None: the report gives no versions of packs."""
        return None

    @property
    def rule_ids(self) -> list[str] | None:
        """None: the packs keep no list."""
        return None

    def validate(self, context: IPolicyValidationContext) -> PolicyValidationPluginReport:
        """Return what the pack finds, as the report wants it."""
        violations = [
            PolicyViolation(
                rule_name=found.rule_name,
                description=found.description,
                severity=_severity(found),
                violating_resources=resources,
            )
            for found in self._pack.validate(context).violations
            if (
                resources := [
                    each
                    for each in found.violating_resources
                    if not self._is_accepted(each.construct_path, found.rule_name)
                ]
            )
        ]
        return PolicyValidationPluginReport(success=not violations, violations=violations)

    def _is_accepted(self, path: str | None, rule: str) -> bool:
        return path is not None and any(each.matches(path, rule) for each in self._accepted)


def _severity(found: PolicyViolation) -> str:
    """Make a warning an error: what a pack finds is mended or accepted, never overlooked."""
    return "error" if found.severity == "warning" else found.severity or "error"


def read_violations(assembly: Path) -> list[Violation]:
    """Return the findings that synth left in the assembly; acknowledged ones are not among them."""
    report = json.loads((assembly / "validation-report.json").read_text(encoding="utf-8"))
    return [
        Violation(
            path=construct.get("constructPath", "?"),
            rule=violation["ruleName"],
            description=" ".join(violation["description"].split()),
            is_refused=violation.get("severity") in REFUSED,
        )
        for plugin in report["pluginReports"]
        for violation in plugin["violations"]
        for construct in violation["violatingConstructs"]
    ]


def refuse_violations(assembly: Path) -> None:
    """Raise when synth left anything that is refused.

    Raises:
        PreflightError: A line for each, with rule, construct and description.
    """
    refused = [each for each in read_violations(assembly) if each.is_refused]
    if refused:
        lines = [f"  {each.path}: {each.rule}: {_shorter(each.description)}" for each in refused]
        raise PreflightError(
            f"{len(refused)} findings in the templates; mend each, or accept it with a reason "
            "in stacks/acknowledgments.py:\n" + "\n".join(lines)
        )


def _shorter(description: str) -> str:
    """Leave out the list of NIST's controls, which is longer than what was found."""
    return description.partition(" - (Control IDs:")[0]
