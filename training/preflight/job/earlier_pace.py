"""Whether a new job can end within its time limit, at the pace of an earlier one that is alike.

Which jobs were before, the record of this machine knows (`training.jobs.record`).
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from training.aws.s3 import S3
from training.preflight.check import Check
from training.preflight.finding import Finding, Severity
from training.preflight.job.asked import S3Place
from training.preflight.job.kept import plain
from training.preflight.job.pace import Course, PaceOnS3Suffices

MOST_LOOKED_AT = 5
"""Of the newest jobs."""

OF_NO_PACE = frozenset(
    {
        *("lr_schedule", "lr_epoch_schedule", "images_per_epoch", "base_learning_rate"),
        *("reference_batch_size", "warmup_steps", "warmup_factor", "momentum", "weight_decay"),
        *("seed", "eval_period", "checkpoint_period", "keep_checkpoints", "load_model"),
    }
)
"""Hyperparameters that may differ: a picture takes as long whatever they are."""


@dataclass(frozen=True)
class EarlierPaceSuffices(Check):
    """A new job can end within its time limit, at the pace of one launched from here before."""

    codes: ClassVar[Mapping[str, Severity]] = {"schedule-over-time-limit": "warning"}
    actions: ClassVar[tuple[str, ...]] = ("s3:GetObject",)

    course: Course
    s3: S3
    earlier: Sequence[S3Place]
    """Log folders, the newest first."""
    hyperparameters: Mapping[str, str]
    """Of the job that is planned."""
    defaults: Mapping[str, str]
    """For those that came after an earlier job."""

    def find(self) -> Iterator[Finding]:
        if self.course.total_steps is None:
            return  # How many pictures an epoch has, only the data knows.
        total = self.course.total_steps * self.course.global_batch_size
        for place in self.earlier[:MOST_LOOKED_AT]:
            before = PaceOnS3Suffices(self.course, self.s3, place)
            if not self._is_alike(before.read("hyperparameters.json")):
                continue
            readings = before.measured()
            if readings:
                yield from before.judge(total, readings)
                return

    def _is_alike(self, content: bytes | None) -> bool:
        try:
            record = json.loads(content or b"")
            before = {**plain(self.defaults), **plain(record)}
        except (AttributeError, RecursionError, TypeError, ValueError):
            return False
        now = plain(self.hyperparameters)
        keys = (before.keys() | now.keys()) - OF_NO_PACE
        return all(before.get(key) == now.get(key) for key in keys)


def earlier_logs(bucket: str) -> list[S3Place]:
    """Return the log folders in a bucket of jobs that were launched from here, newest first."""
    from training.jobs.record import Record, RecordTrouble

    try:
        jobs, _ = Record.of(os.environ).read()
    except RecordTrouble:  # Commands about the record tell it.
        return []
    logs = [each.log for each in jobs if each.log and each.log.startswith(f"s3://{bucket}/")]
    return [S3Place.parse(log) for log in logs]
