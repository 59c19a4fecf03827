"""AWS's Deep Learning Base AMI for a type of instance, by its public name.

The checks before a deploy ask for it too, so that nothing here imports the CDK.
"""

from __future__ import annotations

from dataclasses import dataclass

from training.instances import known_instance


@dataclass(frozen=True)
class BaseAmi:
    """A line of AMIs: NVIDIA's driver, Docker with GPUs, EFA, the SSM agent and the AWS CLI.

    The last part of the name follows from the AMI's title:
    https://docs.aws.amazon.com/dlami/latest/devguide/find-dlami-id.html
    """

    parameter: str
    """Of Systems Manager, public: its value is the id of the newest."""
    root_device: str


AMAZON_LINUX_2023 = BaseAmi(
    "/aws/service/deeplearning/ami/x86_64/base-oss-nvidia-driver-gpu-amazon-linux-2023/latest"
    "/ami-id",
    "/dev/xvda",
)
"""With NVIDIA's open kernel modules, which drive Turing (G4dn) and what came later. Its packages
come over HTTPS from S3, and Ubuntu's over HTTP, which the nodes' security group does not let out.

https://docs.aws.amazon.com/dlami/latest/devguide/important-changes.html
It starts on types without a GPU too: https://docs.aws.amazon.com/dlami/latest/devguide/cpu.html
"""

AMAZON_LINUX_2 = BaseAmi(
    "/aws/service/deeplearning/ami/x86_64/base-proprietary-nvidia-driver-amazon-linux-2/latest"
    "/ami-id",
    "/dev/xvda",
)
"""With the proprietary modules, which drive Volta (P3). AWS makes no newer one of them."""

_OLDEST_OF_OPEN_MODULES = (7, 5)
"""Turing. https://docs.nvidia.com/datacenter/tesla/driver-installation-guide/kernel-modules.html"""


def base_ami(instance_type: str, *, like: str | None = None) -> BaseAmi:
    """Return the line of AMIs for a type.

    Args:
        instance_type: EC2's name.
        like: Whose AMI a type without GPU takes, so that all nodes are alike.
    """
    instance = known_instance(instance_type)
    if instance is None:
        return base_ami(like) if like else AMAZON_LINUX_2023
    is_old = instance.gpu.compute_capability < _OLDEST_OF_OPEN_MODULES
    return AMAZON_LINUX_2 if is_old else AMAZON_LINUX_2023
