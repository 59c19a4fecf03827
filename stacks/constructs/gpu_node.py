"""What a GPU node will be like: Kubernetes is to know before one is there."""

from __future__ import annotations

from training.instances import Instance

HUGE_PAGES_MIB = 5128 * 2
"""What the EFA software of the AMI sets aside: 5128 pages of 2 MiB.

https://docs.aws.amazon.com/eks/latest/userguide/node-efa.html
"""

NVME_FOR_PODS = 0.9
"""The part of the local disks that is told to the autoscaler: the kubelet keeps some free."""

ACCELERATOR_LABEL = "k8s.amazonaws.com/accelerator"
"""By it the autoscaler knows a GPU node before its GPUs are announced, and starts no second one."""


def accelerator(instance: Instance) -> str:
    """Return the value of `ACCELERATOR_LABEL`, such as `nvidia-a100-80-gb`."""
    return "nvidia-" + instance.gpu.model.lower().replace(" ", "-")


def resources_of(instance: Instance, *, efa: int, gib: int) -> dict[str, str]:
    """Return what a GPU node will have, for the autoscaler: none may be there to look at.

    Args:
        instance: Its type.
        efa: Elastic Fabric Adapters.
        gib: Of the disk, where there is no local NVMe.
    """
    room_gib = int(instance.nvme_gb * NVME_FOR_PODS * 1e9 / 2**30) or int(gib * NVME_FOR_PODS)
    found = {"nvidia.com/gpu": str(instance.gpus), "ephemeral-storage": f"{room_gib}Gi"}
    if efa:
        found |= {"vpc.amazonaws.com/efa": str(efa), "hugepages-2Mi": f"{HUGE_PAGES_MIB}Mi"}
    return found
