"""The folder of a job's logs and checkpoints: new for a new job, there for one that goes on."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from training.aws.errors import AwsRefused
from training.aws.s3 import S3
from training.preflight.check import Check
from training.preflight.finding import Finding, Severity
from training.preflight.job.asked import S3Place

_CODES: Mapping[str, Severity] = {"log-exists": "error", "resume-nothing": "error"}


@dataclass(frozen=True)
class _Log(Check):
    """Such a folder, wherever it is."""

    resume: bool

    def judge(self, place: str, *, is_used: bool) -> Iterator[Finding]:
        """Yield what is wrong with a folder that has files, or none."""
        if is_used and not self.resume:
            yield self.found(
                "log-exists",
                "name",
                f"{place} has files already, of a job of this name; give another --name, or add "
                "--resume to go on from its last checkpoint",
            )
        elif self.resume and not is_used:
            yield self.found(
                "resume-nothing",
                "name",
                f"{place} has no files, so there is no job of this name to go on with; check "
                "--name, or leave --resume out to start it",
            )


@dataclass(frozen=True)
class CheckpointsAreOfThisJob(_Log):
    """The folder of checkpoints on S3 is new for a new job, and there for one that goes on."""

    codes: ClassVar[Mapping[str, Severity]] = _CODES
    actions: ClassVar[tuple[str, ...]] = ("s3:ListBucket",)

    s3: S3
    checkpoints: S3Place

    def find(self) -> Iterator[Finding]:
        place = self.checkpoints
        try:
            is_used = self.s3.has_objects(place.bucket, f"{place.key}/")
        except AwsRefused as error:
            if error.code == "NoSuchBucket":  # Another check says so.
                return
            raise
        yield from self.judge(str(place), is_used=is_used)


@dataclass(frozen=True)
class LogFolderIsOfThisJob(_Log):
    """The same of the log folder, where its file system is mounted on this machine."""

    codes: ClassVar[Mapping[str, Severity]] = _CODES
    actions: ClassVar[tuple[str, ...]] = ()

    log: Path

    def find(self) -> Iterator[Finding]:
        try:
            is_used = any(self.log.iterdir())
        except OSError:
            is_used = False
        yield from self.judge(str(self.log), is_used=is_used)
