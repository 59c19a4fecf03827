"""What a round of checks that ask AWS comes to."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from training.preflight.finding import Finding


@dataclass(frozen=True)
class Report:
    """What was checked, where, and what was found."""

    account: str | None
    """None where the stacks cannot go there at all."""
    region: str | None
    checks: int
    findings: list[Finding]
    is_silent: bool = False
    """Whether no check at all could be made, since AWS answered none."""

    def to_json(self) -> dict[str, Any]:
        return {
            "account": self.account,
            "region": self.region,
            "checks": self.checks,
            "findings": [finding.to_json() for finding in self.findings],
        }
