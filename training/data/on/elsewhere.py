"""What the user says of a run somewhere else."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from training.data.on.errand import MAX_RUN_S


class On(StrEnum):
    """Where a copy runs."""

    HERE = "here"
    SAGEMAKER = "sagemaker"
    EC2 = "ec2"
    EKS = "eks"


class With(StrEnum):
    """What makes the big copy, where the user asks for it."""

    DATASYNC = "datasync"


@dataclass(frozen=True, kw_only=True)
class Elsewhere:
    """One such run.

    Attributes:
        on: Where.
        name: Of the run; made from the copy and the time where it is None.
        image: None takes that of the first-party trainer in RegistryStack.
        instance_type: None takes the place's own.
        max_run_s: It is stopped then.
        outputs_file: None asks CloudFormation.
    """

    on: On
    name: str | None = None
    image: str | None = None
    instance_type: str | None = None
    max_run_s: int = MAX_RUN_S
    outputs_file: Path | None = None
