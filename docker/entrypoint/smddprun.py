"""The command line of SageMaker's data parallel library, for TensorFlow and PyTorch.

Not run here: the library is only in Amazon's images. The arguments are those of SageMaker's own
launcher (aws/sagemaker-training-toolkit, src/sagemaker_training/smdataparallel.py).
"""

from typing import List, Optional

from .job import Job
from .mpirun import RemoteShell, mpirun_command
from .network import RDMA_TYPES

SERVER_PORT = 7592


def smddprun_command(
    job: Job, mpirun: str, starter: List[str], remote: Optional[RemoteShell], *, as_root: bool
) -> List[str]:
    """Return the arguments that start every rank, with the library's servers beside them.

    `smddprun` itself reads these variables, so that they come before the rank's own.
    """
    variables = ["SMDATAPARALLEL_USE_SINGLENODE=1"]
    if remote is not None:
        variables = [
            "SMDATAPARALLEL_USE_HOMOGENEOUS=1",
            f"SMDATAPARALLEL_SERVER_ADDR={job.head}",
            f"SMDATAPARALLEL_SERVER_PORT={SERVER_PORT}",
        ]
    if job.instance_type is not None:
        variables.append(f"SAGEMAKER_INSTANCE_TYPE={job.instance_type}")
    variables += ["FI_PROVIDER=efa", "RDMAV_FORK_SAFE=1"]
    if job.network_interface is not None:
        variables.append(f"NCCL_SOCKET_IFNAME={job.network_interface}")
    if (job.instance_type or "").startswith(RDMA_TYPES):
        variables.append("FI_EFA_USE_DEVICE_RDMA=1")
    passed = [word for variable in variables for word in ("-x", variable)]
    own = mpirun_command(job, mpirun, [*passed, "smddprun", *starter], remote, as_root=as_root)
    return [*own[:1], "--oversubscribe", *own[1:]]
