"""Finds a training job by its name."""

from __future__ import annotations

from training.aws.errors import AwsRefused
from training.errors import AwsError, UsageError
from training.job import is_job_name
from training.platforms.common.patience import Patience
from training.platforms.sagemaker.commands import LIST
from training.platforms.sagemaker.state import JobState, read_state


def find_job(patience: Patience, job_name: str) -> JobState:
    """Return how a job is doing.

    Raises:
        UsageError: There is no such job, or no job can have that name.
        AwsError: It cannot be asked for.
    """
    if not is_job_name(job_name):
        raise UsageError(
            f"{job_name!r}: no training job has such a name: 1 to 63 letters, digits and -, "
            f"neither first nor last a -. Those of this program: {LIST}"
        )
    try:
        description = patience.ask(lambda clients: clients.sagemaker.training_job(job_name))
    except AwsRefused as error:
        if not error.is_denial:
            raise
        # The notebook may look at jobs with its project's tag, and what is not there has no tag.
        raise AwsError(
            f"{error}. Check the name: a job that is not there is refused like one of another "
            f"project. Those of this program: {LIST}"
        ) from error
    if description is None:
        raise UsageError(
            f"{job_name}: SageMaker has no training job of this name in this account and region. "
            f"Those of this program: {LIST}; a cluster's have --platform ec2 or eks"
        )
    return read_state(description)
