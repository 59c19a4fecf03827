"""Findings for people."""

from __future__ import annotations

from training.preflight.finding import Finding
from training.preflight.in_short import lines_of
from training.preflight.side_by_side import Unanswered


def unanswered(subject: str, reason: str) -> Unanswered:
    return Unanswered(
        "check-not-answered", "warning", f"{subject}: {reason}", "Check", subject, reason
    )


def test_checks_without_an_answer_are_one_line_a_reason_after_all_others() -> None:
    findings = [
        unanswered("A holds", "none here"),
        unanswered("B holds", "too slow"),
        Finding("vpc-missing", "error", "no VPC", "vpc_id"),
        unanswered("C holds", "none here"),
        unanswered("C holds", "none here"),
    ]
    assert list(lines_of(findings)) == [
        "error: vpc-missing: no VPC (vpc_id)",
        'warning: check-not-answered: not answered here: "A holds"; "C holds" (none here)',
        'warning: check-not-answered: not answered here: "B holds" (too slow)',
    ]


def test_in_json_each_is_a_finding_like_any_other() -> None:
    found = unanswered("A holds", "none here").to_json()
    assert found.keys() == {"code", "severity", "message", "path"}
