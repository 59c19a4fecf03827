"""A training job of one small instance that does one thing on a file system, inside the VPC.

Nobody outside a VPC reaches EFS and FSx, and SageMaker Processing mounts neither: a training job
with the file system's root as a channel is what SageMaker has for it. It runs the image of the
training, whose entry point has other commands than `train`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from training.errors import UsageError
from training.instances import known_instance
from training.platforms.sagemaker.file_system import FileSystem
from training.platforms.sagemaker.fingerprint import with_fingerprint

ROOT_CHANNEL = "root"
"""Of a file system's root: the containers have it at /opt/ml/input/data/root."""

VOLUME_GIB = 30
"""EBS of the instance. It holds nothing: the data stays on the file system."""

ARGUMENT_LENGTH = 256
"""Characters of each of ContainerArguments."""

_FAMILY_WITH_NVME = re.compile(r"[a-z]+\d+[a-z]*d[a-z]*")
"""Names of CPU families with local NVMe have a `d` after their number: m5d, c6id, r6gd.

https://docs.aws.amazon.com/ec2/latest/instancetypes/instance-type-names.html
"""


@dataclass(frozen=True, kw_only=True)
class OneInstance:
    """Such a job."""

    name: str
    image: str
    arguments: Sequence[str]
    """Of the image's entry point, in place of `train`."""
    file_systems: Mapping[str, FileSystem]
    """By channel; all of each may be written to."""
    vpc: Mapping[str, Any]
    """VpcConfig: where the file system can be mounted."""
    role_arn: str
    instance_type: str
    max_run_s: int
    output: str
    """s3://…, where SageMaker puts what a job leaves; this one leaves nothing."""
    key_arn: str
    """Of KMS."""
    network_isolation: bool
    tags: Sequence[Mapping[str, str]]
    hyperparameters: Mapping[str, str] = field(default_factory=dict)
    """What the command reads besides its arguments."""

    def body(self) -> dict[str, Any]:
        """Return the CreateTrainingJob request.

        https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_CreateTrainingJob.html.
        Arguments without an entry point of the request's own run the image's as `docker run IMAGE
        ARGUMENTS` does:
        https://docs.aws.amazon.com/sagemaker/latest/dg/your-algorithms-training-algo-dockerfile.html

        Raises:
            UsageError: An argument is too long for SageMaker.
        """
        self._check_arguments()
        told = {"HyperParameters": dict(self.hyperparameters)} if self.hyperparameters else {}
        channels = [
            files.channel(name, "", "rw") for name, files in sorted(self.file_systems.items())
        ]
        # An empty list is refused; a job from S3 to S3 has none.
        inputs = {"InputDataConfig": channels} if channels else {}
        return with_fingerprint(
            {
                "TrainingJobName": self.name,
                "AlgorithmSpecification": {
                    "TrainingImage": self.image,
                    "TrainingInputMode": "File",
                    "ContainerArguments": list(self.arguments),
                },
                **told,
                "RoleArn": self.role_arn,
                **inputs,
                "OutputDataConfig": {"S3OutputPath": self.output, "KmsKeyId": self.key_arn},
                "ResourceConfig": self._resources(),
                "VpcConfig": dict(self.vpc),
                "StoppingCondition": {"MaxRuntimeInSeconds": self.max_run_s},
                "EnableNetworkIsolation": self.network_isolation,
                "Tags": [dict(tag) for tag in self.tags],
            }
        )

    def _resources(self) -> dict[str, Any]:
        resources: dict[str, Any] = {"InstanceType": self.instance_type, "InstanceCount": 1}
        # Types with NVMe have no EBS volume, and SageMaker takes no key for one.
        if not has_nvme(self.instance_type):
            resources |= {"VolumeSizeInGB": VOLUME_GIB, "VolumeKmsKeyId": self.key_arn}
        return resources

    def _check_arguments(self) -> None:
        for argument in self.arguments:
            if len(argument) > ARGUMENT_LENGTH:
                raise UsageError(
                    f"{argument}: has {len(argument)} characters, and an argument of a training "
                    f"job takes {ARGUMENT_LENGTH}; choose a shorter path (channels.log, "
                    "channels.train, --path)"
                )


def has_nvme(instance_type: str) -> bool:
    """Return whether a type of SageMaker, such as `ml.m5d.large`, has local NVMe."""
    if instance := known_instance(instance_type):
        return instance.nvme_gb > 0
    family = instance_type.removeprefix("ml.").partition(".")[0]
    return _FAMILY_WITH_NVME.fullmatch(family) is not None
