"""The variables of a job's containers: those that the entry point reads, and the user's."""

from __future__ import annotations

import re
from collections.abc import Mapping

from training.algorithms import Distribution
from training.errors import UsageError
from training.job import Job
from training.platforms.sagemaker.channels import TRAIN_FOLDER, log_folder
from training.platforms.sagemaker.fingerprint import VARIABLE as FINGERPRINT
from training.platforms.sagemaker.machines import Machines
from training.platforms.sagemaker.results import TENSORBOARD_FOLDER

# https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_CreateTrainingJob.html, Environment
MAX_VARIABLES = 100
MAX_NAME_LENGTH = 512
MAX_VALUE_LENGTH = 512
_NAME = re.compile(r"[a-zA-Z_][a-zA-Z0-9_]*")

RESERVED_PREFIXES = ("MASK_RCNN_", "SAGEMAKER_", "SM_", "AWS_", "OMPI_")
"""Of variables that the plan, SageMaker, AWS's SDKs or Open MPI set."""
RESERVED_NAMES = ("PATH", "LD_PRELOAD", "LD_LIBRARY_PATH", "PYTHONPATH")
"""They decide which programs run; an image sets them."""


def environment(job: Job, on: Machines, distribution: Distribution) -> dict[str, str]:
    """Return Environment; the fingerprint of the request comes to it in the end.

    Raises:
        UsageError: SageMaker would refuse one of the user's variables, or it is not theirs to set.
    """
    own = {
        "MASK_RCNN_ALGORITHM": job.spec.algorithm,
        "MASK_RCNN_DISTRIBUTION": distribution,
        "MASK_RCNN_PROCESSES_PER_HOST": str(on.processes_per_instance),
        "MASK_RCNN_DATA": TRAIN_FOLDER,
        "MASK_RCNN_LOG": log_folder(job),
    }
    if job.spec.sagemaker.tensorboard:
        own["MASK_RCNN_TENSORBOARD"] = TENSORBOARD_FOLDER
    _check(job.spec.environment, room=MAX_VARIABLES - len({*own, FINGERPRINT}))
    return {**job.spec.environment, **own}


def _check(variables: Mapping[str, str], *, room: int) -> None:
    if len(variables) > room:
        raise UsageError(
            f"environment: {len(variables)} variables; SageMaker takes {MAX_VARIABLES}, of which "
            f"this leaves {room}"
        )
    for name, value in variables.items():
        if not _NAME.fullmatch(name) or len(name) > MAX_NAME_LENGTH:
            raise UsageError(
                f"environment: {name!r}: the name of a variable has letters, digits and _ only, "
                f"does not begin with a digit and is at most {MAX_NAME_LENGTH} characters long"
            )
        if name.startswith(RESERVED_PREFIXES) or name in RESERVED_NAMES:
            raise UsageError(
                f"environment.{name}: this variable is not yours to set: names may not begin with "
                f"{', '.join(RESERVED_PREFIXES)}, nor be {', '.join(RESERVED_NAMES)}"
            )
        if len(value) > MAX_VALUE_LENGTH:
            raise UsageError(
                f"environment.{name}: {len(value)} characters; SageMaker takes at most "
                f"{MAX_VALUE_LENGTH}"
            )
        if wrong := next((sign for sign in value if not _can_be_sent(sign)), None):
            raise UsageError(
                f"environment.{name}: {value!r}: no variable can hold the character {wrong!r}"
            )


def _can_be_sent(sign: str) -> bool:
    """Return whether a variable can hold a character: no end of a C string, no half of a pair."""
    return sign != "\0" and not "\ud800" <= sign <= "\udfff"
