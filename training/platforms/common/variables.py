"""The variables of a job's processes that are the user's."""

from __future__ import annotations

import re
from collections.abc import Mapping

from training.errors import UsageError

# https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_CreateTrainingJob.html, Environment
MAX_VARIABLES = 100
MAX_NAME_LENGTH = 512
MAX_VALUE_LENGTH = 512
_NAME = re.compile(r"[a-zA-Z_][a-zA-Z0-9_]*")

RESERVED_PREFIXES = ("MASK_RCNN_", "SAGEMAKER_", "SM_", "AWS_", "OMPI_")
"""Of variables that the plan, SageMaker, AWS's SDKs or Open MPI set."""
RESERVED_NAMES = (
    *("PATH", "LD_PRELOAD", "LD_AUDIT", "LD_LIBRARY_PATH", "PYTHONPATH", "PYTHONHOME", "BASH_ENV"),
    *("HOME", "TRAINING_JOB_NAME"),
)
"""The first decide which programs run, and an image sets them; the last two a platform sets."""


def check_variables(variables: Mapping[str, str], *, room: int, taker: str = "SageMaker") -> None:
    """Refuse variables that a job cannot have.

    Args:
        variables: The user's.
        room: How many there may be.
        taker: What takes at most `MAX_VARIABLES`, for messages.

    Raises:
        UsageError: There are too many, one cannot be, or is not the user's to set.
    """
    if len(variables) > room:
        raise UsageError(
            f"environment: {len(variables)} variables; {taker} takes {MAX_VARIABLES}, of which "
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
                f"environment.{name}: {len(value)} characters; {taker} takes at most "
                f"{MAX_VALUE_LENGTH}"
            )
        if wrong := next((sign for sign in value if not _can_be_sent(sign)), None):
            raise UsageError(
                f"environment.{name}: {value!r}: no variable can hold the character {wrong!r}"
            )


def _can_be_sent(sign: str) -> bool:
    """Return whether a variable can hold a character: no end of a C string, no half of a pair."""
    return sign != "\0" and not "\ud800" <= sign <= "\udfff"
