"""Puts the CreateTrainingJob request together."""

from __future__ import annotations

from typing import Any

from training.algorithms import Distribution
from training.job import Job
from training.outputs import NetworkOutputs, StorageOutputs
from training.platforms.common.tags import tags
from training.platforms.sagemaker.channels import input_data_config
from training.platforms.sagemaker.container import algorithm_specification, hyperparameters
from training.platforms.sagemaker.environment import environment
from training.platforms.sagemaker.experiment import experiment_config
from training.platforms.sagemaker.fingerprint import with_fingerprint
from training.platforms.sagemaker.health import health_checks
from training.platforms.sagemaker.machines import Machines, resource_config
from training.platforms.sagemaker.names import Names
from training.platforms.sagemaker.network import networking
from training.platforms.sagemaker.results import results
from training.platforms.sagemaker.stopping import stopping


def create_training_job(
    job: Job,
    *,
    network: NetworkOutputs,
    storage: StorageOutputs,
    on: Machines,
    distribution: Distribution,
    image: str,
    called: Names,
    tagged: str,
) -> dict[str, Any]:
    """Return the body of the request.

    Args:
        on: The instances.
        distribution: What starts and joins the processes.
        image: The container image.
        called: The job's names.
        tagged: The value of the tag `Job`.

    Raises:
        UsageError: SageMaker would refuse the request.
    """
    return with_fingerprint(
        {
            "TrainingJobName": called.job,
            "RoleArn": storage.training_role_arn,
            "AlgorithmSpecification": algorithm_specification(job, image=image),
            "HyperParameters": hyperparameters(job),
            "Environment": environment(job, on, distribution),
            "InputDataConfig": input_data_config(job, storage, log=called.log),
            **results(job, storage, called=called),
            "ResourceConfig": resource_config(job, on, key_arn=storage.encryption_key_arn),
            **networking(job, network, storage),
            **stopping(job.spec),
            **health_checks(job),
            **experiment_config(job.spec.sagemaker.experiment, job_name=called.job),
            "Tags": tags(job.spec.tags, project=network.project, job=tagged),
        }
    )
