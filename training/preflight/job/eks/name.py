"""The name of a job on the cluster."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import ClassVar

from training.platforms.eks.commands import how_to_look, how_to_stop
from training.platforms.eks.looking import NoJobsRelease, find
from training.preflight.check import Check
from training.preflight.finding import Finding, Severity
from training.preflight.job.eks.inside import ACTIONS, Inside


@dataclass(frozen=True)
class NameIsFree(Check):
    """No other job of the namespace has the name, or had it; one that goes on has ended."""

    codes: ClassVar[Mapping[str, Severity]] = {
        "job-name-taken": "error",
        "job-already-there": "info",
    }
    actions: ClassVar[tuple[str, ...]] = ACTIONS

    inside: Inside
    name: str
    fingerprint: str
    resume: bool

    def find(self) -> Iterator[Finding]:
        try:
            job = self.inside.ask(
                lambda connection: find(connection, self.name, now=datetime.now(UTC))
            )
        except NoJobsRelease as error:
            yield self.found("job-name-taken", "name", f"{error}. Give another --name")
            return
        if job is None:
            return
        if job.fingerprint == self.fingerprint:
            yield self.found(
                "job-already-there",
                "name",
                f"{self.name} was started before by this very request and is {job.status}: no "
                "second job is started",
            )
        elif not self.resume:
            yield self.found(
                "job-name-taken",
                "name",
                f"there is a job {self.name} already ({job.status}): {how_to_look(self.name)}. "
                "Give another --name, or go on from its checkpoint with --resume",
            )
        elif not job.has_ended:
            yield self.found(
                "job-name-taken",
                "name",
                f"{self.name} is {job.status}, and goes on once it has ended: "
                f"{how_to_stop(self.name)}",
            )
