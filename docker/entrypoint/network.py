"""The network interface of a job, and what its libraries are told about it."""

import os
from typing import Dict, Optional

from .errors import EntrypointError

_SYS = "/sys/class"

RDMA_TYPES = ("ml.p4d.", "ml.p4de.", "p4d.", "p4de.")
"""Where libfabric has to be told to use RDMA, as SageMaker's own launcher does
(aws/sagemaker-training-toolkit, src/sagemaker_training/__init__.py: SM_EFA_RDMA_INSTANCES)."""


def check_interface(
    name: Optional[str],
    sys_class: str = _SYS,
    place: str = "resourceconfig.json: network_interface_name",
) -> None:
    """Raises: EntrypointError: The interface that `place` names is not there."""
    if name is None:
        return
    there = sorted(os.listdir(os.path.join(sys_class, "net")))
    if name not in there:
        raise EntrypointError(
            f"{place}: {name!r} is not there; this container has {', '.join(there)}"
        )


def has_efa(sys_class: str = _SYS) -> bool:
    """Return whether there is an Elastic Fabric Adapter: a device with the driver `efa`."""
    folder = os.path.join(sys_class, "infiniband")
    try:
        devices = os.listdir(folder)
    except OSError:
        return False
    drivers = (os.path.join(folder, device, "device", "driver") for device in devices)
    return any(os.path.basename(os.path.realpath(driver)) == "efa" for driver in drivers)


def network_environment(
    interface: Optional[str], instance_type: Optional[str], *, efa: bool
) -> Dict[str, str]:
    """Return the variables that lead NCCL, gloo and libfabric to the right network.

    Without them a library may pick an interface that reaches no other host, such as docker0.
    """
    environment = {}
    if interface is not None:
        environment["NCCL_SOCKET_IFNAME"] = interface
        environment["GLOO_SOCKET_IFNAME"] = interface
    if efa:
        environment["FI_PROVIDER"] = "efa"
        if (instance_type or "").startswith(RDMA_TYPES):
            environment["FI_EFA_USE_DEVICE_RDMA"] = "1"
    return environment
