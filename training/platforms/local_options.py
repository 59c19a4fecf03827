"""What a job spec can say about the platform `local` alone."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal, Self

from pydantic import AfterValidator, Field, PositiveInt, model_validator

from training.spec_part import SpecPart


def _whole(path: Path) -> Path:
    if not path.is_absolute():
        raise ValueError("give the whole path, from /")
    return path


AbsolutePath = Annotated[Path, AfterValidator(_whole)]


class ElasticOptions(SpecPart):
    """How the number of processes may change while the job runs (Horovod elastic)."""

    min_processes: PositiveInt = 1
    """With fewer of them the job waits for more, ten minutes at most."""
    max_processes: PositiveInt | None = None
    """None: as many as the job starts with."""
    host_discovery: AbsolutePath | None = None
    """A program, by its whole path, that prints the hosts there are, `name:processes` a line; it is
    asked each second. None: each process counts as a host, and is started again when it was lost.
    """


class LocalOptions(SpecPart):
    """Settings of the platform `local`."""

    controller: Literal["gloo", "mpi"] = "gloo"
    """What Horovod's processes use to find each other."""
    root: Path = Path("runs")
    """Folder for logs and copied data where the data source is `s3`."""
    network_interface: str = Field(default="lo", pattern=r"^[A-Za-z0-9_.:-]{1,15}$")
    """What the processes talk over; never guessed, so that a bridge cannot be taken."""
    elastic: ElasticOptions | None = None
    """Keys min_processes (1), max_processes (as many as at the start) and host_discovery (a
    program that prints the hosts; None: each process counts as one): processes may come and go,
    with Horovod elastic. None: a lost process ends the job."""

    @model_validator(mode="after")
    def _elastic_needs_gloo(self) -> Self:
        if self.elastic is not None and self.controller != "gloo":
            raise ValueError(
                f"controller: {self.controller!r}: elastic jobs need gloo; leave one of both out"
            )
        return self
