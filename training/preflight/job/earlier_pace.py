"""Whether a new job can end within its time limit, at the pace of an earlier one that is alike."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import ClassVar

from training.preflight.finding import Finding, Severity
from training.preflight.job.earlier import EarlierJobs
from training.preflight.job.pace import CODES, PaceCheck


@dataclass(frozen=True)
class _EarlierPace(PaceCheck):
    """Reads the folders of other jobs, wherever they are."""

    earlier: EarlierJobs

    def find(self) -> Iterator[Finding]:
        if self.course.images is None:
            return  # How many pictures an epoch has, only the data knows.
        for pace in self.earlier.paces():
            if self.course.is_on_machines_of(pace):
                yield from self.judge(self.course.images, pace)
                return


@dataclass(frozen=True)
class EarlierPaceSuffices(_EarlierPace):
    """A new job can end within its time limit, at the pace of one launched from here before."""

    codes: ClassVar[Mapping[str, Severity]] = CODES
    actions: ClassVar[tuple[str, ...]] = ("s3:GetObject",)


@dataclass(frozen=True)
class EarlierPaceHereSuffices(_EarlierPace):
    """The same, where the log folder of the earlier one is mounted on this machine."""

    codes: ClassVar[Mapping[str, Severity]] = CODES
    actions: ClassVar[tuple[str, ...]] = ()
