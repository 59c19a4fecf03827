"""The pace of a job, as its log folder has it, and the machines that it was measured on.

How fast a job will be is never guessed: the only source is what was measured. A log folder has both
the machines, in `job.json`, and the pace, in `metrics.jsonl`.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import takewhile
from typing import Any

from training.preflight.job.log_files import LogFiles

TAIL_BYTES = 64 * 1024
"""Of the end of `metrics.jsonl`: some hundred lines, a few minutes of training."""

FEWEST_READINGS = 5
"""Of the pace, before it is one: the first are of caches that fill."""


@dataclass(frozen=True)
class JobLog:
    """A job's log folder, and what else is known of the job."""

    files: LogFiles
    instance_type: str | None = None
    """Of the machines that trained, as it was written down at the launch; None: it was not."""


@dataclass(frozen=True)
class Reading:
    """A line of metrics.jsonl about training."""

    step: int
    epoch: float
    images_per_second: float
    """Of all processes together."""
    global_batch_size: float | None
    """Pictures in one step of all processes; None in the log of an older version."""


@dataclass(frozen=True, kw_only=True)
class Measured:
    """What one log folder says."""

    instance_type: str
    """SageMaker's with `ml.`."""
    instances: int
    world_size: int
    """Processes: each has a GPU, where there are any."""
    readings: Sequence[Reading]
    """The last ones, all of so many processes."""
    is_elastic: bool
    """Whether there were more or fewer processes before."""
    place: str
    """The log folder, for messages."""

    @property
    def images_per_second(self) -> float:
        """The median of the readings, of all processes together."""
        from statistics import median  # It takes ten milliseconds, which a plan does not have.

        return median(each.images_per_second for each in self.readings)

    @property
    def of_each(self) -> float:
        """Pictures a second of each process."""
        return self.images_per_second / self.world_size

    @property
    def steps_done(self) -> float | None:
        """Steps of so many pictures as the last ones had; None where that cannot be told."""
        first, last = self.readings[0], self.readings[-1]
        if not self.is_elastic:
            return last.step
        steps, epochs = last.step - first.step, last.epoch - first.epoch
        return last.epoch * steps / epochs if epochs > 0 else None


@dataclass(frozen=True, kw_only=True)
class _Machines:
    """What `job.json` says."""

    instance_type: str
    hosts: int
    world_size: int
    processes_per_host: int
    is_elastic: bool

    def training(self, global_batch_size: float | None, local: int) -> tuple[int, int] | None:
        """Return instances and processes of some readings; None where they are not told."""
        if not self.is_elastic:
            return self.hosts, self.world_size
        if not global_batch_size:
            return None
        processes, left = divmod(global_batch_size, local)
        instances, alone = divmod(processes, self.processes_per_host)
        return None if left or alone else (int(instances), int(processes))


def measured(log: JobLog, *, local_batch_size: int) -> Measured | None:
    """Return what a log folder says of the pace; None where it is too little to go by.

    Args:
        log: Of a job with the hyperparameters that `local_batch_size` follows from.
        local_batch_size: Pictures in one step of one process.

    Raises:
        AwsError: It is on S3, which refused or did not answer.
    """
    machines = _machines(log)
    readings = _last_readings(log.files) if machines else []
    if machines is None or len(readings) < FEWEST_READINGS:
        return None
    training = machines.training(readings[-1].global_batch_size, local_batch_size)
    if training is None:
        return None
    return Measured(
        instance_type=machines.instance_type,
        instances=training[0],
        world_size=training[1],
        readings=readings,
        is_elastic=machines.is_elastic,
        place=log.files.place,
    )


def _machines(log: JobLog) -> _Machines | None:
    try:
        record = json.loads(log.files.read("job.json") or b"{}")
        request = record["request"]
        is_elastic = request.get("distribution") == "elastic"
        instance_type = request["instance_type"]
        if is_elastic and record.get("platform") == "ec2":
            # The record is that of the head node, which may only conduct.
            instance_type = log.instance_type
        found = _Machines(
            instance_type=instance_type,
            hosts=len(request["hosts"]),
            world_size=record["world_size"],
            processes_per_host=request["processes_per_host"] if is_elastic else 1,
            is_elastic=is_elastic,
        )
    except (AttributeError, KeyError, OSError, RecursionError, TypeError, ValueError):
        return None  # Of another version, or none: then there is no pace to go by.
    counts = (found.hosts, found.world_size, found.processes_per_host)
    is_whole = all(type(each) is int and each > 0 for each in counts)
    return found if is_whole and isinstance(found.instance_type, str) else None


def _last_readings(files: LogFiles) -> list[Reading]:
    """Return the last readings that are of as many pictures a step, the oldest first."""
    try:
        end = files.read("metrics.jsonl", last_bytes=TAIL_BYTES)
    except OSError:
        return []
    # A line that is cut off, or of something else, is none.
    found = [reading for line in (end or b"").splitlines() if (reading := _reading(line))]
    newest = [*reversed(found)]
    alike = takewhile(lambda each: each.global_batch_size == newest[0].global_batch_size, newest)
    return [*reversed([*alike])]


def _reading(line: bytes) -> Reading | None:
    try:
        said: Any = json.loads(line)
        values = said["values"]
        speed, batch = float(values["images_per_second"]), values.get("global_batch_size")
        epoch = float(said["epoch"])
        reading = Reading(int(said["step"]), epoch, speed, None if batch is None else float(batch))
    except (AttributeError, KeyError, OverflowError, RecursionError, TypeError, ValueError):
        return None
    return reading if 0 < speed < float("inf") else None
