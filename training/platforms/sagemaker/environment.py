"""The variables of a job's containers: those that the entry point reads, and the user's."""

from __future__ import annotations

from training.algorithms import Distribution
from training.job import Job
from training.platforms.common.variables import MAX_VARIABLES, check_variables
from training.platforms.sagemaker.channels import TRAIN_FOLDER, log_folder
from training.platforms.sagemaker.fingerprint import VARIABLE as FINGERPRINT
from training.platforms.sagemaker.machines import Machines
from training.platforms.sagemaker.results import TENSORBOARD_FOLDER


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
    check_variables(job.spec.environment, room=MAX_VARIABLES - len({*own, FINGERPRINT}))
    return {**job.spec.environment, **own}
