"""What a platform is: it plans a job, checks the plan, and runs exactly that plan."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
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
class Plan:
    """A job as one platform would run it. `submit` sends `request` and nothing else."""

    platform: str
    algorithm: str
    job_name: str
    request: Request
    cost: Cost


class Platform(Protocol):
    """A module of this package."""

    READS: tuple[type[Contract], ...]
    """The stacks that its plans need."""

    def plan(self, job: Job, outputs: Outputs, launch: Launch) -> Plan:
        """Return what would be sent: the same input gives the same plan, and nothing happens.

        Raises:
            UsageError: The platform cannot run such a job, or an output is missing.
        """

    def check(self, job: Job, plan: Plan) -> Iterator[Finding]:
        """Yield what is wrong with a plan, as far as it can be told before anything starts."""

    def submit(self, job: Job, plan: Plan) -> None:
        """Run the plan, and return once the job has succeeded.

        Raises:
            PreflightError: A check that needs the copied data found an error.
            JobFailed: The job failed; the message has its cause.
            JobCheckpointed: The job was stopped and can go on from its checkpoint.
            AwsError: AWS refused a request.
        """


def job_id(job: Job, launch: Launch) -> str:
    """Return what tells this job from others: its name, or the time of its launch (UTC)."""
    return job.spec.name or launch.now.strftime("%Y-%m-%d-%H-%M-%S")


def job_name(job: Job, launch: Launch) -> str:
    """Return the job's name on every platform."""
    return job.spec.name or f"mask-rcnn-{job.spec.data_source}-{job_id(job, launch)}"
