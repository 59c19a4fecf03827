"""The jobs of one platform, or of all whose stacks are there."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, TypeVar

import typer

from training.cli import log
from training.errors import AwsError
from training.jobs.control import NAMES, JobControl, load
from training.jobs.info import JobInfo
from training.outputs import StackMissing

ALL = "all"

T = TypeVar("T")

EveryPlatformOption = Annotated[
    str,
    typer.Option("--platform", help=f"Where the jobs are: {', '.join(NAMES)}; {ALL}: everywhere."),
]

_NEVER = datetime.min.replace(tzinfo=UTC)


@dataclass(frozen=True)
class Found:
    """A job, and where it is."""

    platform: str
    job: JobInfo


@dataclass
class Everywhere:
    """The platforms that are asked; what one does not answer is told, and the others still are."""

    controls: dict[str, JobControl] = field(default_factory=dict)
    failed: dict[str, AwsError] = field(default_factory=dict)

    @classmethod
    def of(cls, platform: str, outputs_file: Path | None) -> Everywhere:
        """Connect to a platform, or to all of them.

        Raises:
            UsageError: There is no such platform, or it is not deployed; all: none is an error.
            AwsError: The one platform's outputs cannot be read.
        """
        if platform != ALL:
            return cls({platform: load(platform, outputs_file)})
        found, absent = cls(), []
        for name in NAMES:
            try:
                found.controls[name] = load(name, outputs_file)
            except StackMissing:
                absent.append(name)
            except AwsError as error:
                found.failed[name] = error
        if absent:
            log.print(f"Not deployed, and left out: {', '.join(absent)}")
        return found

    def newest(self, limit: int) -> list[Found]:
        """Return the newest jobs of all."""
        found = [
            Found(name, job)
            for name in self.controls
            for job in self._ask(name, lambda control: list(control.jobs(limit=limit))) or ()
        ]
        return sorted(found, key=lambda each: each.job.created or _NEVER, reverse=True)[:limit]

    def status(self, found: Found) -> Found:
        """Return a job as its own status tells it; as it was where that is not to be had."""
        job = self._ask(found.platform, lambda control: control.status(found.job.name))
        return found if job is None else Found(found.platform, job)

    def conclude(self) -> None:
        """End with an error where a platform did not answer, after what the others did.

        Raises:
            AwsError: It did not.
        """
        if not self.failed:
            return
        if [*self.controls] == [*self.failed]:
            raise AwsError("; ".join(dict.fromkeys(map(str, self.failed.values()))))
        raise AwsError("; ".join(f"{name}: {error}" for name, error in self.failed.items()))

    def _ask(self, name: str, question: Callable[[JobControl], T]) -> T | None:
        try:
            return question(self.controls[name])
        except AwsError as error:
            self.failed[name] = error
            return None
