"""The job that runs, and whether it would survive the loss of a node."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from ..conductor.jobs import running_job
from ..conductor.places import RunFolder
from ..conductor.state import read_object
from ..config import NodeConfig


@dataclass(frozen=True)
class Busy:
    """A job that has begun and not ended."""

    name: str
    state: str
    is_elastic: bool
    """It goes on without a worker that is gone."""
    has_checkpoint: bool

    def survives(self, role: str) -> bool:
        """Whether the loss of a head or a worker leaves what it has done."""
        goes_on = self.is_elastic and role == "worker"
        return self.state == "waiting" or goes_on or self.has_checkpoint

    def what_happens(self, role: str) -> str:
        """What the loss of a head or a worker does to it, for people."""
        if self.state == "waiting":
            return f"job {self.name} waits for the new node"
        if self.is_elastic and role == "worker":
            return f"job {self.name} goes on without the node, and takes the new one in"
        return f"job {self.name} starts again from its last checkpoint"


def busy(config: NodeConfig) -> Busy | None:
    """Return the job that runs; None where none does."""
    job = running_job(config)
    return of_run(job["name"], job["state"], RunFolder(Path(job["run"]))) if job else None


def of_run(name: str, state: str, run: RunFolder) -> Busy:
    """Read a run's folder for what the loss of a node would do to it."""
    return Busy(
        name=name,
        state=state,
        is_elastic=read_object(run.request).get("distribution") == "elastic",
        has_checkpoint=run.has_checkpoint,
    )
