"""What a check reports."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, fields
from typing import Literal

Severity = Literal["error", "warning", "info"]


@dataclass(frozen=True)
class Finding:
    """One thing that a check saw.

    Attributes:
        code: Stable name of the kind of finding, `subject-problem`, for scripts and `--suppress`.
        severity: An `error` stops the launch with exit code 3.
        message: What was found, what is allowed and what to do, in one or two sentences.
        path: Where: a file's path, a job spec's key, or a resource's name.
    """

    code: str
    severity: Severity
    message: str
    path: str

    def to_line(self) -> str:
        """Return it for people; the place is named once."""
        place = "" if self.path in self.message else f" ({self.path})"
        return f"{self.code}: {self.message}{place}"

    def to_json(self) -> dict[str, str]:
        return {field.name: getattr(self, field.name) for field in fields(Finding)}


def error_lines(findings: Iterable[Finding]) -> list[str]:
    """Return an indented line for each finding that stops a launch."""
    return [f"  {finding.to_line()}" for finding in findings if finding.severity == "error"]
