"""Findings as lines for people, with what nobody answered told once."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from training.preflight.finding import Finding
from training.preflight.side_by_side import Unanswered


def lines_of(findings: Iterable[Finding]) -> Iterator[str]:
    """Yield a line for each finding, and last one for each reason why checks have no answer."""
    subjects: dict[str, list[Unanswered]] = {}
    for finding in findings:
        if isinstance(finding, Unanswered):
            subjects.setdefault(finding.reason, []).append(finding)
        else:
            yield f"{finding.severity}: {finding.to_line()}"
    for reason, unanswered in subjects.items():
        first = unanswered[0]
        names = "; ".join(dict.fromkeys(f'"{each.subject}"' for each in unanswered))
        yield f"{first.severity}: {first.code}: not answered here: {names} ({reason})"
