"""What a job spec can say about the platform `ec2` alone."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from pydantic import AfterValidator, Field

from training.spec_part import SpecPart


def _whole(path: Path) -> Path:
    if not path.is_absolute():
        raise ValueError("give the whole path, from /")
    return path


class Ec2Options(SpecPart):
    """Settings of the platform `ec2`."""

    distribution: Literal["elastic", "mpi", "torchrun"] | None = None
    """What starts and joins the processes; None takes the algorithm's default. `elastic`: hosts may
    be lost and come while the job runs (Horovod elastic)."""
    least_workers: int | None = Field(default=None, ge=1, le=1000)
    """Distribution `elastic`: with fewer worker nodes the job waits for more; None is 1."""
    workers_wait_s: int = Field(default=1800, ge=60, le=86_400)
    """Seconds that the job waits for its worker nodes to come."""
    stall_s: int = Field(default=3600, ge=60, le=604_800)
    """Seconds without a new step and without a line, after which the job is stopped as stuck."""
    keep_workers: bool = False
    """Leave the worker nodes for the next job; they are paid for until their group is smaller."""
    queue: bool = False
    """While another job runs, wait for its end; else the job is refused."""
    network_interface: str | None = Field(
        default=None, pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,14}$"
    )
    """What the processes talk over; None: the one with the nodes' private addresses."""
    access: Literal["ssm", "ssh"] = "ssm"
    """How the request gets to the head node: Systems Manager, which needs no open port, or SSH."""
    ssh_user: str = Field(default="ec2-user", pattern=r"^[a-z_][a-z0-9_-]{0,31}$")
    """Access `ssh`: the user on the head node that the AMI has, who may use sudo."""
    ssh_key: Annotated[Path, AfterValidator(_whole)] | None = None
    """Access `ssh`: the file of the private key; None leaves it to ssh and its agent."""
