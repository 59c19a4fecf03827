"""How long things may take, in seconds."""

import json
from typing import Mapping, NamedTuple

TIMING_VARIABLE = "MASK_RCNN_TIMING"
"""A JSON object with some of the fields below: tests cannot wait as long as jobs do."""


GRACE_VARIABLE = "MASK_RCNN_GRACE_S"
"""A pod's terminationGracePeriodSeconds."""


class Timing(NamedTuple):
    note_s: float = 60
    """Between lines that say whom a host waits for. Set-up has no limit: capacity comes late."""
    retry_s: float = 1
    """Between attempts to reach the head."""
    pulse_s: float = 5
    """Between signs of life on a connection."""
    silence_s: float = 30
    """Without a sign of life: the other host is gone, whatever its machine does."""
    together_s: float = 120
    """Enough hosts of an elastic job are there: time for the others to begin with them."""
    launch_s: float = 600
    """All hosts are there: time until all ranks have started, which takes seconds."""
    grace_s: float = 100
    """Between SIGTERM and the end: SageMaker kills after 120 s
    (https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_StopTrainingJob.html)."""
    settle_s: float = 1.5
    """After a failure: what else is known, and last lines, arrive in it."""
    leave_s: float = 60
    """All ranks have ended: time for what started them to end too."""
    farewell_s: float = 10
    """For the other hosts to hear how the job ended."""


def read_timing(environ: Mapping[str, str]) -> Timing:
    changes = json.loads(environ.get(TIMING_VARIABLE) or "{}")
    timing = Timing()._replace(grace_s=_grace_s(environ))
    return timing._replace(**{name: float(value) for name, value in changes.items()})


def _grace_s(environ: Mapping[str, str]) -> float:
    """Return what ranks get of the time that a pod has: the rest is for the end."""
    value = environ.get(GRACE_VARIABLE, "")
    return 0.8 * int(value) if value.isdigit() else Timing().grace_s
