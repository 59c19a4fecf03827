"""torch.distributed: DistributedDataParallel over NCCL on GPUs and gloo on CPUs.

Reads RANK, WORLD_SIZE, LOCAL_RANK, LOCAL_WORLD_SIZE, MASTER_ADDR and MASTER_PORT, which torchrun
sets. Without them it is one rank on its own.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from datetime import timedelta
from typing import Any, TypeVar, cast

import torch
import torch.distributed as dist
from torch import Tensor, nn
from torch.futures import Future
from torch.nn.parallel import DistributedDataParallel
from torch.optim import Optimizer

from training.maskrcnn.engines.engine import (
    BegunSum,
    Compression,
    Engine,
    EngineName,
    from_bytes,
    local_device,
    parts_of,
    to_bytes,
)
from training.maskrcnn.hyperparameters import Hyperparameters
from training.maskrcnn.older_torch import NO_BUFFERS

T = TypeVar("T")

SENT_TYPES: dict[Compression, torch.dtype | None] = {
    "none": None,
    "fp16": torch.float16,
    "bf16": torch.bfloat16,
}

TIMEOUT = timedelta(minutes=30)
"""Of one communication: the other ranks wait so long while rank 0 computes mAP."""


class TorchEngine:
    """Ranks joined by torch.distributed, or a single one."""

    def __init__(self, name: EngineName = "torch", *, backend: str | None = None) -> None:
        """Join the others.

        Args:
            name: What the engine is called.
            backend: One of torch.distributed; None is NCCL on GPUs and gloo on CPUs.
        """
        self.name: EngineName = name
        self.rank = int(os.environ.get("RANK", "0"))
        self.size = int(os.environ.get("WORLD_SIZE", "1"))
        self.local_rank = int(os.environ.get("LOCAL_RANK", "0"))
        self.local_size = int(os.environ.get("LOCAL_WORLD_SIZE", "1"))
        self.device = local_device(self.local_rank)
        if self.size > 1:
            by_device = "nccl" if self.device.type == "cuda" else "gloo"
            dist.init_process_group(backend or by_device, timeout=TIMEOUT)

    def wrap(
        self,
        model: nn.Module,
        optimizer: Optimizer,
        *,
        passes: int = 1,  # noqa: ARG002 (`local_gradients` tells which pass it is)
        compression: Compression = "none",
    ) -> tuple[nn.Module, Optimizer]:
        if self.size == 1:
            return model, optimizer
        parallel = DistributedDataParallel(
            model,
            # Gradients live where they are added up, and are not copied there and back.
            gradient_as_bucket_view=True,
            # Evaluation shares rank 0's statistics, training needs no others'.
            **NO_BUFFERS,
        )
        sent_type = SENT_TYPES[compression]
        # A lambda: DistributedDataParallel refuses a hook whose annotations are text.
        parallel.register_comm_hook(None, lambda _, bucket: _sum_bucket(bucket, sent_type))
        return parallel, optimizer

    def local_gradients(self, model: nn.Module) -> AbstractContextManager[None]:
        if isinstance(model, DistributedDataParallel):
            return cast(AbstractContextManager[None], model.no_sync())
        return nullcontext()

    @contextmanager
    def summed_gradients(self, optimizer: Optimizer) -> Iterator[None]:  # noqa: ARG002
        # DistributedDataParallel has waited at the end of backward.
        yield

    def sum(self, tensor: Tensor) -> Tensor:
        return self.begin_sum(tensor, "sum")()

    def begin_sum(self, tensor: Tensor, name: str) -> BegunSum:  # noqa: ARG002 (order tells)
        total = tensor.clone()
        work = dist.all_reduce(total, async_op=True) if self.size > 1 else None

        def finish() -> Tensor:
            if work is not None:
                work.wait()
            return total

        return finish

    def gather(self, value: T) -> list[T]:
        if self.size == 1:
            return [value]
        data = to_bytes(value) if self.rank != 0 else torch.empty(0, dtype=torch.uint8)
        lengths = self._lengths(data)
        if self.rank != 0:
            for part in parts_of(data.numel()):
                dist.send(data[part].to(self.device), dst=0)
            return []
        return [
            value,
            *(
                cast(T, from_bytes(self._receive(sender, length)))
                for sender, length in enumerate(lengths[1:], start=1)
            ),
        ]

    def _lengths(self, data: Tensor) -> list[int]:
        """Return how many bytes each rank has."""
        lengths = torch.zeros(self.size, dtype=torch.int64, device=self.device)
        lengths[self.rank] = data.numel()
        dist.all_reduce(lengths)
        return cast(list[int], lengths.tolist())

    def _receive(self, sender: int, length: int) -> Tensor:
        """Return (length,) uint8, in the host's memory."""
        data = torch.empty(length, dtype=torch.uint8)
        for part in parts_of(length):
            received = data[part].to(self.device)
            dist.recv(received, src=sender)
            data[part] = received
        return data

    def broadcast(self, value: T, *, root: int = 0) -> T:
        if self.size == 1:
            return value
        data = to_bytes(value) if self.rank == root else torch.empty(0, dtype=torch.uint8)
        length = torch.tensor([data.numel()], device=self.device)
        dist.broadcast(length, src=root)
        data = (
            data.to(self.device)
            if self.rank == root
            else data.new_empty(int(length), device=self.device)
        )
        dist.broadcast(data, src=root)
        return cast(T, from_bytes(data))

    def barrier(self) -> None:
        if self.size > 1:
            dist.barrier()

    def close(self) -> None:
        if self.size > 1:
            dist.destroy_process_group()


def _sum_bucket(bucket: Any, sent_type: torch.dtype | None) -> Future[Tensor]:
    """Add up gradients over ranks: losses are divided by counts of all ranks already, where
    DistributedDataParallel's own mean would divide once more."""
    gradients: Tensor = bucket.buffer()
    work = dist.all_reduce(gradients.to(sent_type or gradients.dtype), async_op=True)
    assert work is not None
    future: Future[list[Tensor]] = work.get_future()
    return cast(Future[Tensor], future.then(lambda done: gradients.copy_(done.value()[0])))


def start(hyperparameters: Hyperparameters | None = None) -> Engine:  # noqa: ARG001
    return TorchEngine()
