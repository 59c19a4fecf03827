"""Whether a job that goes on can end within its time limit, at the pace that it had before.

How fast a job will be is never guessed: the only source is what was measured on the same machines.
A log folder has both: `job.json` and `metrics.jsonl`.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from training.preflight.check import Check
from training.preflight.finding import Finding, Severity
from training.preflight.job.asked import Asked
from training.preflight.job.log_files import LogFiles, LogInFolder, LogOnS3

if TYPE_CHECKING:
    from training.job import Job
    from training.platforms.api import Plan

_CODES: Mapping[str, Severity] = {"schedule-over-time-limit": "warning"}

TAIL_BYTES = 64 * 1024
"""Of the end of `metrics.jsonl`: some hundred lines, a few minutes of training."""

FEWEST_READINGS = 5
"""Of the pace, before it is one: the first are of caches that fill."""


@dataclass(frozen=True, kw_only=True)
class Course:
    """How far a planned training goes, on what, and in what time."""

    instance_type: str
    """As the job's own record has it; SageMaker's with `ml.`."""
    instances: int
    world_size: int
    global_batch_size: int
    """Pictures in one step of all processes."""
    total_steps: int | None
    """None where the data's length decides."""
    total_epochs: float | None
    """None where `total_steps` says it."""
    max_run_s: int


def course_of(job: Job, plan: Plan, asked: Asked) -> Course | None:
    """Return how far a training goes; None of a trainer that does not measure its own pace."""
    rates, own = plan.learning_rates, job.hyperparameters
    if rates is None or plan.algorithm != "horovod":
        return None
    epochs = getattr(own, "lr_epoch_schedule", None)
    of_each = getattr(own, "batch_size_per_gpu", 1) * getattr(own, "accumulation_steps", 1)
    return Course(
        instance_type=asked.instance_type,
        instances=asked.instance_count,
        world_size=rates.global_batch_size // of_each,
        global_batch_size=rates.global_batch_size,
        total_steps=rates.total_steps,
        total_epochs=epochs[-1][0] if epochs else None,
        max_run_s=asked.max_run_s,
    )


@dataclass(frozen=True)
class _Pace(LogFiles, Check):
    """Reads such a folder, wherever it is."""

    course: Course

    def find(self) -> Iterator[Finding]:
        readings = self.measured()
        left = self._images_left(readings[-1]) if readings else None
        if left is not None:
            yield from self.judge(left, readings)

    def measured(self) -> list[Reading]:
        """Return the last readings of the pace; none where they are few, or of other machines."""
        if not self._had_the_same_machines():
            return []
        try:
            end = self.read("metrics.jsonl", last_bytes=TAIL_BYTES)
        except OSError:
            return []
        readings = _readings(end or b"")
        return readings if len(readings) >= FEWEST_READINGS else []

    def judge(self, left: float, readings: Sequence[Reading]) -> Iterator[Finding]:
        """Yield that so many pictures take longer than the job has."""
        from statistics import median  # It takes ten milliseconds, which a plan does not have.

        speed = median(each.images_per_second for each in readings)
        if left / speed <= self.course.max_run_s:
            return
        needed = round(left / speed)
        yield self.found(
            "schedule-over-time-limit",
            "limits.max_run_s",
            f"the schedule has {left:,.0f} pictures to go, which take {needed:,} s of training at "
            f"{speed:,.4g} pictures a second (median of the last {len(readings)} readings in "
            f"{self.place}/metrics.jsonl, on the same machines), evaluations apart; "
            f"limits.max_run_s is {self.course.max_run_s:,}. The job will stop with a checkpoint "
            "and want to be launched again with --resume; or raise the limit, or shorten the "
            "schedule",
        )

    def _had_the_same_machines(self) -> bool:
        try:
            record = json.loads(self.read("job.json") or b"{}")
            request = record["request"]
            before = (request["instance_type"], len(request["hosts"]), record["world_size"])
        except (KeyError, OSError, RecursionError, TypeError, ValueError):
            return False  # Of another version, or none: then there is no pace to go by.
        course = self.course
        return before == (course.instance_type, course.instances, course.world_size)

    def _images_left(self, last: Reading) -> float | None:
        done = last.step * self.course.global_batch_size
        if self.course.total_steps is not None:
            return self.course.total_steps * self.course.global_batch_size - done
        if self.course.total_epochs is None or last.epoch <= 0:
            return None
        return (self.course.total_epochs / last.epoch - 1) * done


@dataclass(frozen=True)
class PaceOnS3Suffices(LogOnS3, _Pace):
    """A job that goes on from S3 can end within its time limit, at the pace that it had."""

    codes: ClassVar[Mapping[str, Severity]] = _CODES
    actions: ClassVar[tuple[str, ...]] = ("s3:GetObject",)


@dataclass(frozen=True)
class PaceInFolderSuffices(LogInFolder, _Pace):
    """A job that goes on in a mounted log folder can end within its limit, at its own pace."""

    codes: ClassVar[Mapping[str, Severity]] = _CODES
    actions: ClassVar[tuple[str, ...]] = ()


@dataclass(frozen=True)
class Reading:
    """A line of metrics.jsonl about training."""

    step: int
    epoch: float
    images_per_second: float


def _readings(content: bytes) -> list[Reading]:
    """Return what there is of the pace; a line that is cut off, or of something else, is none."""
    return [found for line in content.splitlines() if (found := _reading(line)) is not None]


def _reading(line: bytes) -> Reading | None:
    try:
        said: Any = json.loads(line)
        speed = float(said["values"]["images_per_second"])
        reading = Reading(int(said["step"]), float(said["epoch"]), speed)
    except (KeyError, OverflowError, RecursionError, TypeError, ValueError):
        return None
    return reading if 0 < speed < float("inf") else None
