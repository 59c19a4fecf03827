"""What a platform is: it plans a job, checks the plan, and runs exactly that plan."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Protocol, runtime_checkable

if TYPE_CHECKING:
    from training.algorithms.learning_rates import LearningRates
    from training.job import Job
    from training.outputs import Contract, Outputs
    from training.preflight.finding import Finding


@dataclass(frozen=True, kw_only=True)
class Cost:
    """What a job costs; None where no price can be cited."""

    per_hour: float | None
    maximum: float | None
    """For the whole of `limits.max_run_s`."""
    assumptions: tuple[str, ...]
    currency: str = "USD"
    price_age_days: int | None = None
    """How old the price was when the plan was made; None where none was looked up."""
    price_region: str | None = None
    """Where that price is asked."""

    def to_json(self) -> dict[str, Any]:
        return {
            "currency": self.currency,
            "per_hour": self.per_hour,
            "maximum": self.maximum,
            "assumptions": list(self.assumptions),
        }


class Request(Protocol):
    """Exactly what a platform would be sent."""

    def to_json(self) -> dict[str, Any]:
        """Return it as plain JSON values."""


@runtime_checkable
class Summarized(Protocol):
    """A request that can say in short where a job runs, on what, and from what."""

    def summary(self) -> Iterator[tuple[str, str]]:
        """Yield titles, and what there is to say of each."""


@dataclass(frozen=True, kw_only=True)
class Machine:
    """What a plan may know of the machine that it is made on."""

    python: Path
    """The interpreter; programs of its environment are beside it."""
    project: Path
    """Folder that holds the package `training`."""
    working_directory: Path
    cores: int
    gpus: int
    environ: Mapping[str, str]


@dataclass(frozen=True, kw_only=True)
class Launch:
    """What a plan depends on besides the job and the outputs."""

    now: datetime
    resume: bool
    machine: Machine


@dataclass(frozen=True, kw_only=True)
class StepBefore:
    """Something that `submit` does before it sends the plan's request."""

    what: str
    """In words."""
    request: Mapping[str, Any] | None = None
    """Exactly what would be sent for it, where something is."""

    def to_json(self) -> dict[str, Any]:
        request = None if self.request is None else dict(self.request)
        return {"what": self.what, "request": request}


@dataclass(frozen=True, kw_only=True)
class Plan:
    """A job as one platform would run it. `submit` does `before`, then sends `request`."""

    platform: str
    algorithm: str
    job_name: str
    request: Request
    cost: Cost
    before: tuple[StepBefore, ...] = ()
    learning_rates: LearningRates | None = None


Ending = Literal["completed", "submitted"]
"""How a launch that met no error leaves a job: done, or on its way."""


class Platform(Protocol):
    """A module of this package."""

    READS: tuple[type[Contract], ...]
    """The stacks that its plans need."""

    def plan(self, job: Job, outputs: Outputs, launch: Launch) -> Plan:
        """Return what would be sent: the same input gives the same plan, and nothing happens.

        Raises:
            UsageError: The platform cannot run such a job, or an output is missing.
        """

    def check(self, job: Job, plan: Plan, *, offline: bool) -> Iterator[Finding]:
        """Yield what is wrong with a plan, as far as it can be told before anything starts.

        Args:
            offline: Ask nobody: only what this machine knows.
        """

    def submit(self, job: Job, plan: Plan, *, wait: bool) -> Ending:
        """Run the plan.

        Args:
            wait: Return once the job has succeeded; else once it is on its way. A platform that
                cannot let go of a job always waits.

        Raises:
            PreflightError: A check that needs the copied data found an error.
            JobFailed: The job failed; the message has its cause.
            JobCheckpointed: The job was stopped and can go on from its checkpoint.
            AwsError: AWS refused a request.
        """


def timestamp(moment: datetime) -> str:
    """Return a moment as it stands in names."""
    return moment.strftime("%Y-%m-%d-%H-%M-%S")


_MADE_NAME = re.compile(r"mask-rcnn-(?:s3|efs|fsx)-(\d{4}(?:-\d\d){5})")


def job_id(job: Job, launch: Launch) -> str:
    """Return what tells this job from others: its name, or the time of its launch (UTC).

    A name that `job_name` made gives the time that is in it, so that `--resume --name` finds the
    folder of a job under the name that its launch has shown.
    """
    name = job.spec.name
    if name is None:
        return timestamp(launch.now)
    made = _MADE_NAME.fullmatch(name)
    return made[1] if made else name


def job_name(job: Job, launch: Launch) -> str:
    """Return the job's name on every platform."""
    return job.spec.name or f"mask-rcnn-{job.spec.data_source}-{job_id(job, launch)}"
