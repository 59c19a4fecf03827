"""The instances of a job, and the processes on each."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from training import algorithms
from training.errors import UsageError
from training.instances import Instance, find_instance
from training.job import Job
from training.platforms.api import Launch

LOCAL = "local"
"""In place of an instance type: containers on this machine."""


@dataclass(frozen=True, kw_only=True)
class Machines:
    """What a job runs on."""

    instance: Instance | None
    """None for containers on this machine."""
    count: int
    processes_per_instance: int

    @property
    def type(self) -> str:
        """As CreateTrainingJob takes it, `ml.p4d.24xlarge`; or `local`."""
        return LOCAL if self.instance is None else self.instance.sagemaker_name

    @property
    def has_ebs(self) -> bool:
        """Whether SageMaker attaches an EBS volume.

        It does not where the type has NVMe of its own: the data is there, all of it, and a key for
        the volume is refused. See VolumeSizeInGB and VolumeKmsKeyId in
        https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_ResourceConfig.html
        """
        return self.instance is not None and self.instance.nvme_gb == 0

    @property
    def world_size(self) -> int:
        return self.count * self.processes_per_instance


def machines(job: Job, launch: Launch) -> Machines:
    """Return the instances that a job asks for, or else its algorithm's.

    Raises:
        UsageError: SageMaker has no such type, or it has fewer GPUs than there are processes.
    """
    wanted = job.spec.instances
    default_type, default_count = algorithms.load(job.spec.algorithm).DEFAULT_INSTANCES
    if (wanted.type or default_type) == LOCAL:
        return Machines(
            instance=None,
            count=wanted.count or 1,
            processes_per_instance=wanted.processes_per_instance or max(1, launch.machine.gpus),
        )
    instance = _find(wanted.type or default_type)
    processes = wanted.processes_per_instance or instance.gpus
    if processes > instance.gpus:
        raise UsageError(
            f"instances.processes_per_instance: {processes}: {instance.sagemaker_name} has "
            f"{instance.gpus} GPU(s), and each process takes one; at most {instance.gpus}, or "
            "leave it out"
        )
    return Machines(
        instance=instance,
        count=wanted.count or default_count,
        processes_per_instance=processes,
    )


def _find(name: str) -> Instance:
    try:
        instance = find_instance(name)
        instance.sagemaker_name  # noqa: B018  (it is refused here, and not where the name is used)
    except UsageError as error:
        raise UsageError(f"instances.type: {error}") from error
    return instance


def resource_config(job: Job, on: Machines, *, key_arn: str) -> dict[str, Any]:
    """Return ResourceConfig.

    Args:
        key_arn: The KMS key of the volumes.

    Raises:
        UsageError: The capacity is of a kind that SageMaker keeps for no other job.
    """
    options, spot = job.spec.sagemaker, job.spec.spot.enabled
    config: dict[str, Any] = {"InstanceType": on.type, "InstanceCount": on.count}
    if on.has_ebs:
        config |= {"VolumeSizeInGB": options.volume_gib, "VolumeKmsKeyId": key_arn}
    if options.keep_alive_s:
        if spot:
            raise UsageError(
                f"sagemaker.keep_alive_s: {options.keep_alive_s}: SageMaker keeps no warm pool of "
                "spot instances; set it to 0, or spot.enabled to false"
            )
        config["KeepAlivePeriodInSeconds"] = options.keep_alive_s
    if options.training_plan_arn is not None:
        if spot:
            raise UsageError(
                "sagemaker.training_plan_arn: a training plan is capacity that is paid for "
                "already, which spot.enabled would not use; give one of the two"
            )
        config["TrainingPlanArn"] = options.training_plan_arn
    return config
