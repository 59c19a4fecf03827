"""A finding of cdk-nag that is kept, with the reason."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property

ANYTHING = "…"
"""In a rule: whatever the settings decide, but no wildcard."""


@dataclass(frozen=True, kw_only=True)
class AcceptedFinding:
    """One finding of one rule at one construct."""

    path: str
    """Of the construct, as the report prints it: `StorageStack/Data/Bucket/Resource`."""
    rule: str
    """With the finding where a rule has several: `AwsSolutions-IAM5[Resource::…/*]`."""
    reason: str

    def matches(self, path: str, rule: str) -> bool:
        """Whether a finding is this one."""
        return path == self.path and self._rule_pattern.fullmatch(rule) is not None

    @cached_property
    def _rule_pattern(self) -> re.Pattern[str]:
        return re.compile("[^*]+".join(map(re.escape, self.rule.split(ANYTHING))))


def wildcards(path: str, *resources: tuple[str, str]) -> tuple[AcceptedFinding, ...]:
    """Return one for each resource with a wildcard in a role's policy: the resource, the reason."""
    return tuple(
        AcceptedFinding(path=path, rule=f"AwsSolutions-IAM5[Resource::{resource}]", reason=reason)
        for resource, reason in resources
    )
