"""What a job spec can say about the platform `eks` alone."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from training.spec_part import SpecPart


class EksOptions(SpecPart):
    """Settings of the platform `eks`."""

    distribution: Literal["elastic", "mpi"] | None = None
    """What starts and joins the processes; None takes the algorithm's default. `elastic`: nodes may
    be lost and come while the job runs (Horovod elastic)."""
    least_nodes: int | None = Field(default=None, ge=1, le=1000)
    """Distribution `elastic`: with fewer nodes the job waits for more; None is 1."""
    workers_wait_s: int = Field(default=1800, ge=60, le=86_400)
    """Seconds that the job waits for its nodes to come."""
    gang_scheduler: Literal["none", "volcano", "scheduler-plugins"] = "none"
    """What starts all pods of a job or none, where the cluster has it."""
