"""What a job spec can say about the platform `local` alone."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from pydantic import Field

from training.spec_part import SpecPart


class LocalOptions(SpecPart):
    """Settings of the platform `local`."""

    controller: Literal["gloo", "mpi"] = "gloo"
    """What Horovod's processes use to find each other."""
    root: Path = Path("runs")
    """Folder for logs and copied data where the data source is `s3`."""
    network_interface: str = Field(default="lo", pattern=r"^[A-Za-z0-9_.:-]{1,15}$")
    """What the processes talk over; never guessed, so that a bridge cannot be taken."""
