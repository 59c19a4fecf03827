"""SageMaker's data parallel library (SMDDP) below DistributedDataParallel.

It registers a backend of torch.distributed when it is imported. It is in AWS's own images alone,
and since 2.3.0 it looks at the instance's type as it is imported, and refuses others than its own.

What AWS says of the backend, and what follows:

- It cannot live beside another one, such as gloo, nor make groups of ranks. So all that ranks tell
  each other goes through the one group, as tensors on the GPU.
- AWS names sums, broadcasts, gathers of all, and barriers, but nothing that only two ranks take
  part in. So values travel to rank 0 by broadcasts here.
- It adds gradients up itself below mpirun (`smddprun`) alone; below torchrun that is NCCL's.

https://docs.aws.amazon.com/sagemaker/latest/dg/data-parallel-modify-sdp-pt.html
https://docs.aws.amazon.com/sagemaker/latest/dg/data-parallel-framework-estimator.html
https://docs.aws.amazon.com/sagemaker/latest/dg/data-parallel-release-notes.html
aws/sagemaker-python-sdk, doc/api/training/sdp_versions/latest/smd_data_parallel_pytorch.rst
"""

from __future__ import annotations

import os
from typing import TypeVar, cast

import torch
import torch.distributed as dist
from torch import Tensor

from training.maskrcnn.engines.engine import Engine, from_bytes, parts_of, to_bytes
from training.maskrcnn.engines.torch_engine import TorchEngine
from training.maskrcnn.hyperparameters import Hyperparameters

try:
    # Registers the backend.
    import smdistributed.dataparallel.torch.torch_smddp  # type: ignore[import-not-found]  # noqa: F401
except ImportError:
    raise
except Exception as error:
    # AWS does not say of which kind its refusal is.
    raise ImportError(f"{type(error).__name__}: {error}") from error

T = TypeVar("T")


FROM_MPI = {
    "RANK": "OMPI_COMM_WORLD_RANK",
    "WORLD_SIZE": "OMPI_COMM_WORLD_SIZE",
    "LOCAL_RANK": "OMPI_COMM_WORLD_LOCAL_RANK",
    "LOCAL_WORLD_SIZE": "OMPI_COMM_WORLD_LOCAL_SIZE",
}
"""What torch.distributed reads, and what Open MPI calls it."""


class SmddpEngine(TorchEngine):
    """Ranks joined by the library's backend, started by mpirun or as those of torch are."""

    def __init__(self) -> None:
        for name, of_mpi in FROM_MPI.items():
            if of_mpi in os.environ:
                os.environ.setdefault(name, os.environ[of_mpi])
        super().__init__("smddp", backend="smddp")

    def gather(self, value: T) -> list[T]:
        if self.size == 1:
            return [value]
        data = to_bytes(value) if self.rank != 0 else torch.empty(0, dtype=torch.uint8)
        values = [value]
        for sender, length in enumerate(self._lengths(data)[1:], start=1):
            received = self._send_to_rank_0(data, sender, length)
            if self.rank == 0:
                values.append(cast(T, from_bytes(received)))
        return values if self.rank == 0 else []

    def _send_to_rank_0(self, data: Tensor, sender: int, length: int) -> Tensor:
        """Send one rank's bytes; all ranks call it alike, rank 0 gets them: (length,) uint8.

        The others get them too, part by part, and let go of each part at once.
        """
        received = torch.empty(length if self.rank == 0 else 0, dtype=torch.uint8)
        for part in parts_of(length):
            moved = torch.empty(part.stop - part.start, dtype=torch.uint8, device=self.device)
            if self.rank == sender:
                moved.copy_(data[part])
            dist.broadcast(moved, src=sender)
            if self.rank == 0:
                received[part] = moved
        return received


def start(hyperparameters: Hyperparameters | None = None) -> Engine:  # noqa: ARG001
    return SmddpEngine()
