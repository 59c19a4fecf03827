"""Runs checks that ask AWS side by side, each within a time limit."""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass, field

from training.aws.errors import AwsRefused
from training.errors import AwsError
from training.preflight.check import Check
from training.preflight.finding import Finding, Severity

CODES: dict[str, Severity] = {
    "check-not-permitted": "warning",
    "check-not-answered": "warning",
    "check-timed-out": "warning",
}
"""Of what kept a check from its answer."""


@dataclass(frozen=True)
class Unanswered(Finding):
    """That a check has no answer.

    Attributes:
        subject: What holds where the check finds nothing.
        reason: Why there is no answer; checks of one reason are told together.
    """

    subject: str
    reason: str


@dataclass(frozen=True)
class Results:
    """What checks found, in their order."""

    findings: list[Finding]
    is_silent: bool
    """Whether there are checks that ask AWS, and it answered none of them. A refusal for want of a
    permission is an answer, and so is that a local AWS does not have what was asked for."""


def run_checks(checks: Sequence[Check], *, time_limit_s: float) -> Results:
    """Run checks at once and wait for them.

    A check that AWS refuses, or that takes too long, becomes a warning that says so; what it had
    found before stays.

    Args:
        checks: They share no state but clients, which are safe to share.
        time_limit_s: For each; all begin at once.

    Raises:
        Exception: A check has a bug.
    """
    runs = [_Run(check) for check in checks]
    for run in runs:
        run.thread.start()
    deadline = time.monotonic() + time_limit_s
    for run in runs:
        run.thread.join(max(0.0, deadline - time.monotonic()))
    findings = [finding for run in runs for finding in run.outcome(time_limit_s)]
    asking = [run for run in runs if run.check.actions]
    return Results(findings, bool(asking) and all(run.is_silent for run in asking))


@dataclass
class _Run:
    """One check in a thread of its own, which nobody waits for when the time is over."""

    check: Check
    findings: list[Finding] = field(default_factory=list)
    error: Exception | None = None
    is_silent: bool = False
    """Whether AWS did not answer, and nothing had been found before; known from `outcome` on."""
    thread: threading.Thread = field(init=False)

    def __post_init__(self) -> None:
        # A daemon: a request that hangs must not keep the command from ending.
        self.thread = threading.Thread(target=self._find, name=self._name, daemon=True)

    @property
    def _name(self) -> str:
        return type(self.check).__name__

    def _find(self) -> None:
        try:
            for finding in self.check.find():
                self.findings.append(finding)
        except Exception as error:
            self.error = error

    def outcome(self, time_limit_s: float) -> list[Finding]:
        findings = list(self.findings)
        if self.thread.is_alive():
            self.is_silent = not findings
            findings.append(
                self._not_done(
                    "check-timed-out",
                    f"took longer than {time_limit_s:g} s. Run the command again, or allow more "
                    "with --time-limit-s",
                )
            )
        elif isinstance(self.error, AwsRefused) and self.error.is_denial:
            findings.append(
                self._not_done(
                    "check-not-permitted",
                    f"needs the permission {self.error.action}, which your identity lacks. Ask "
                    "for it, or use another profile",
                )
            )
        elif isinstance(self.error, AwsError):
            self.is_silent = not findings and not _is_lacking(self.error)
            findings.append(self._unanswered(self.error))
        elif self.error is not None:
            raise self.error
        return findings

    def _unanswered(self, error: AwsError) -> Unanswered:
        finding = self._not_done("check-not-answered", f"could not be looked at: {error}")
        reason = "a local AWS has only what this project uses" if _is_lacking(error) else str(error)
        return Unanswered(
            finding.code,
            finding.severity,
            finding.message,
            finding.path,
            self.check.subject,
            reason,
        )

    def _not_done(self, code: str, what: str) -> Finding:
        return Finding(code, CODES[code], f'not checked: "{self.check.subject}" {what}', self._name)


def _is_lacking(error: AwsError) -> bool:
    """Return whether a local AWS does not have what was asked for."""
    return isinstance(error, AwsRefused) and error.code == "NotImplemented"
