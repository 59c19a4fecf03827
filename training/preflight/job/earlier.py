"""What jobs that were launched from this machine have measured, of those like the planned one.

Which jobs there were, the record of this machine knows (`training.jobs.record`); what they measured
is read from their log folders when a check needs it, and kept nowhere else.
"""

from __future__ import annotations

import json
import math
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

from training.aws.s3 import S3
from training.data.mounts import find_folder
from training.errors import AwsError
from training.preflight.in_time import in_time
from training.preflight.job.asked import S3Place
from training.preflight.job.kept import hyperparameter_texts, plain
from training.preflight.job.log_files import LogFiles, LogInFolder, LogOnS3
from training.preflight.job.measured import JobLog, Measured, measured

if TYPE_CHECKING:
    from training.job import Job
    from training.jobs.record import Recorded

NEWEST = 200
"""Of the jobs in the record: what is older is of other versions, too."""

MOST_LOOKED_AT = 10
"""Of their log folders: three small files of each at most."""

ADVICE_TIME_S = 5.0
"""For an advice, which a check must not wait for as long as it does for its own answer."""

OF_NO_PACE = frozenset(
    {
        *("lr_schedule", "lr_epoch_schedule", "images_per_epoch", "base_learning_rate"),
        *("reference_batch_size", "warmup_steps", "warmup_factor", "momentum", "weight_decay"),
        *("seed", "eval_period", "checkpoint_period", "keep_checkpoints", "load_model"),
    }
)
"""Hyperparameters that may differ: a picture takes as long whatever they are."""


@dataclass(frozen=True)
class EarlierJobs:
    """Log folders, and what makes their jobs like the planned one."""

    logs: Sequence[JobLog]
    """The newest first."""
    hyperparameters: Mapping[str, str]
    """Of the job that is planned."""
    defaults: Mapping[str, str]
    """For those that came after an earlier job."""

    def paces(self) -> Iterator[Measured]:
        """Yield what those that were alike have measured, on whatever machines.

        Raises:
            AwsError: S3 refused or did not answer.
        """
        for log in self.logs[:MOST_LOOKED_AT]:
            if not self._is_alike(log.files):
                continue
            pace = measured(log, local_batch_size=self._local_batch_size)
            if pace is not None:
                yield pace

    def known(self, *, time_limit_s: float = ADVICE_TIME_S) -> list[Measured]:
        """Return what could be read in time; that S3 does not answer is not told."""
        found: list[Measured] = []

        def look() -> None:
            for pace in self.paces():
                found.append(pace)  # noqa: PERF402  (those before a refusal count)

        with suppress(AwsError):
            in_time(look, time_limit_s=time_limit_s, late=AwsError("S3 did not answer in time"))
        return [*found]

    @property
    def _local_batch_size(self) -> int:
        """Pictures in one step of one process."""
        now = plain(self.hyperparameters)
        keys = ("batch_size_per_gpu", "accumulation_steps")
        return math.prod(int(now.get(key, 1)) for key in keys)

    def _is_alike(self, log: LogFiles) -> bool:
        try:
            record = json.loads(log.read("hyperparameters.json") or b"")
            before = {**plain(self.defaults), **plain(record)}
        except (AttributeError, OSError, RecursionError, TypeError, ValueError):
            return False
        now = plain(self.hyperparameters)
        keys = (before.keys() | now.keys()) - OF_NO_PACE
        return all(before.get(key) == now.get(key) for key in keys)


def paces_before(job: Job, s3: S3, bucket: str) -> Callable[[], Sequence[Measured]]:
    """Return what tells, when it is asked, what can be known in time of jobs like a planned one."""

    def known() -> Sequence[Measured]:
        if job.spec.algorithm != "horovod":  # No other trainer measures its pace.
            return ()
        logs = earlier_logs(s3, bucket, here=True)
        return EarlierJobs(logs, *hyperparameter_texts(job)).known()

    return known


def earlier_logs(s3: S3 | None, bucket: str, *, here: bool) -> list[JobLog]:
    """Return the log folders of jobs that were launched from here, the newest first.

    Args:
        s3: Reads those on S3; None leaves them out.
        bucket: The only one that is asked for.
        here: Whether those count that are on file systems which this machine mounts.
    """
    found: list[JobLog] = []
    for job in _recorded():
        log = job.log or ""
        files: LogFiles | None = None
        if s3 is not None and log.startswith(f"s3://{bucket}/"):
            files = LogOnS3(s3, S3Place.parse(log))
        elif here and (folder := find_folder(log, environ=os.environ)):
            files = LogInFolder(folder)
        if files is not None:
            found.append(JobLog(files, job.instance_type))
        if len(found) == MOST_LOOKED_AT:
            break
    return found


def recorded_type(log: str) -> str | None:
    """Return the type of the machines of the newest job with a log folder; None: not known here."""
    return next((each.instance_type for each in _recorded() if each.log == log), None)


def _recorded() -> list[Recorded]:
    from training.jobs.record import Record, RecordTrouble

    try:
        jobs, _ = Record.of(os.environ).read()
    except RecordTrouble:  # Commands about the record tell it.
        return []
    return jobs[:NEWEST]
