"""One kind of event that tells how a job does."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from stacks.constructs.job_message import JobWords


@dataclass(frozen=True, kw_only=True)
class JobEventKind:
    """Which events there are of a kind, and what is said of each."""

    rules: str
    """How the construct ids of its rules begin."""
    description: str
    """Of its rules."""
    pattern: Mapping[str, Any]
    """What each such event is like, but for its detail.

    https://docs.aws.amazon.com/eventbridge/latest/userguide/eb-create-pattern-operators.html
    """
    detail: Mapping[str, Any]
    """The pattern of the detail."""
    reason: str
    """The field of the detail that says why a job ended, where that is known."""
    words: JobWords

    def pattern_of(self, *, has_reason: bool) -> dict[str, Any]:
        """Return the pattern of those events that have a reason, or of those that have none."""
        detail = {**self.detail, self.reason: [{"exists": has_reason}]}
        return {**self.pattern, "detail": detail}
