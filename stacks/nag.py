"""cdk-nag and CDK's own template checks, at every synth."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

from aws_cdk import App, Validations
from cdk_nag import AwsSolutionsChecks

from training.errors import PreflightError

REPORT_ELSEWHERE = {"@aws-cdk/core:failSynthOnValidationErrors": False}
"""Context that makes CDK write its report to the assembly and go on.

Otherwise a finding ends `app.synth()` in an exception of Node's, shown as a Python traceback.
"""


@dataclass(frozen=True, kw_only=True)
class Violation:
    """One finding of one rule at one resource."""

    path: str
    rule: str
    description: str


def add_checks(app: App) -> None:
    """Check every stack of the app against AwsSolutions when it is synthesized."""
    Validations.of(app).add_plugins(AwsSolutionsChecks())


def read_violations(assembly: Path) -> list[Violation]:
    """Return the errors among the findings that synth left in the assembly, acknowledged ones not.

    Warnings are left to the CDK CLI, which prints them.
    """
    report = json.loads((assembly / "validation-report.json").read_text(encoding="utf-8"))
    return [
        Violation(
            path=construct.get("constructPath", "?"),
            rule=violation["ruleName"],
            description=" ".join(violation["description"].split()),
        )
        for plugin in report["pluginReports"]
        for violation in plugin["violations"]
        if violation.get("severity") in ("error", "fatal")
        for construct in violation["violatingConstructs"]
    ]


def refuse_violations(assembly: Path) -> None:
    """Raise when synth left any error.

    Raises:
        PreflightError: A line for each, with rule, construct and description.
    """
    violations = read_violations(assembly)
    if violations:
        lines = [f"  {each.path}: {each.rule}: {each.description}" for each in violations]
        raise PreflightError(
            f"{len(violations)} findings in the templates; mend each, or accept it with a reason "
            "in stacks/acknowledgments.py:\n" + "\n".join(lines)
        )
