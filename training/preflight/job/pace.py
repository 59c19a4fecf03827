"""Whether a job that goes on can end within its time limit, at the pace that it had before."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import ClassVar

from training.preflight.check import Check
from training.preflight.finding import Finding, Severity
from training.preflight.job.course import Course
from training.preflight.job.measured import JobLog, Measured, measured
from training.prices.cost import HOUR_S

ESTIMATE = "schedule-estimate"
"""The code of what a schedule takes, in hours and money."""

CODES: Mapping[str, Severity] = {ESTIMATE: "info", "schedule-over-time-limit": "warning"}


@dataclass(frozen=True)
class PaceCheck(Check):
    """Part of a check that has found a pace of the planned job's machines."""

    course: Course

    def judge(self, images: float, pace: Measured) -> Iterator[Finding]:
        """Yield what so many pictures take, and where that is longer than the job has."""
        needed_s, speed = images / pace.images_per_second, pace.images_per_second
        source = (
            f"at {speed:,.4g} pictures a second (median of the last {len(pace.readings)} readings "
            f"in {pace.place}/metrics.jsonl, on the same machines), evaluations apart"
        )
        if images > 0:
            yield self.found(
                ESTIMATE,
                "cost",
                f"the {images:,.0f} pictures that the schedule has to go take about "
                f"{_duration(needed_s)}{self._price(needed_s)}, {source}",
            )
        if needed_s > self.course.max_run_s:
            yield self.found(
                "schedule-over-time-limit",
                "limits.max_run_s",
                f"the schedule has {images:,.0f} pictures to go, which take {round(needed_s):,} s "
                f"of training {source}; limits.max_run_s is {self.course.max_run_s:,}. The job "
                "will stop with a checkpoint and want to be launched again with --resume; or raise "
                "the limit, or shorten the schedule",
            )

    def _price(self, seconds: float) -> str:
        usd_per_hour = self.course.usd_per_hour
        if usd_per_hour is None:
            return ", at a price that is not known here"
        return f" and {usd_per_hour * seconds / HOUR_S:,.2f} USD on demand"


def _duration(seconds: float) -> str:
    return f"{seconds / HOUR_S:,.3g} h" if seconds >= HOUR_S else f"{seconds / 60:,.3g} min"


@dataclass(frozen=True)
class _OwnPace(PaceCheck):
    """Reads the folder of the job itself, wherever it is."""

    log: JobLog

    def find(self) -> Iterator[Finding]:
        pace = measured(self.log, local_batch_size=self.course.local_batch_size)
        if pace is None or not self.course.is_on_machines_of(pace):
            return
        left = self.course.images_after(pace)
        if left is not None:
            yield from self.judge(left, pace)


@dataclass(frozen=True)
class PaceOnS3Suffices(_OwnPace):
    """A job that goes on from S3 can end within its time limit, at the pace that it had."""

    codes: ClassVar[Mapping[str, Severity]] = CODES
    actions: ClassVar[tuple[str, ...]] = ("s3:GetObject",)


@dataclass(frozen=True)
class PaceInFolderSuffices(_OwnPace):
    """A job that goes on in a mounted log folder can end within its limit, at its own pace."""

    codes: ClassVar[Mapping[str, Severity]] = CODES
    actions: ClassVar[tuple[str, ...]] = ()
