"""What a training job is called, and the folder of what it writes."""

from __future__ import annotations

from dataclasses import dataclass

from training.job import Job
from training.platforms.api import Launch, job_id, job_name, timestamp

MAX_LENGTH = 63
"""Characters of TrainingJobName."""


@dataclass(frozen=True)
class Names:
    """The two names of a job."""

    job: str
    """TrainingJobName: one account uses a name once in a region."""
    log: str
    """The folder below `channels.log`: a job that goes on with another writes where that wrote."""


def names(job: Job, launch: Launch) -> Names:
    """Return the names of a job.

    One that goes on is a training job of its own, called after the first and the time of the
    launch; a long name is cut short for that.
    """
    log = f"log-{job_id(job, launch)}"
    name = job_name(job, launch)
    if not launch.resume:
        return Names(name, log)
    time = timestamp(launch.now)
    return Names(f"{name[: MAX_LENGTH - len(time) - 1].rstrip('-')}-{time}", log)
