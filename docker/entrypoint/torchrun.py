"""The command line of torchrun, which every host starts."""

import sys
from typing import List

from .job import Job

MASTER_PORT = 7777
"""Where the head's torchrun listens; SageMaker's own launcher takes the same
(aws/sagemaker-training-toolkit, src/sagemaker_training/torch_distributed.py)."""


def torchrun_command(job: Job, starter: List[str]) -> List[str]:
    """Return the arguments that start this host's ranks."""
    # Alone, a host needs no name, and it may have none that resolves.
    head = job.head if len(job.hosts) > 1 else "127.0.0.1"
    return [
        *(sys.executable, "-m", "torch.distributed.run"),
        *("--nnodes", str(len(job.hosts)), "--node_rank", str(job.host_number)),
        *("--nproc_per_node", str(job.processes_per_host)),
        *("--master_addr", head, "--master_port", str(MASTER_PORT)),
        # A rank that failed is a failure of the job, which SageMaker starts again.
        *("--max_restarts", "0"),
        "--no_python",
        *starter,
    ]
