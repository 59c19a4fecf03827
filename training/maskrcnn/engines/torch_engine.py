"""torch.distributed: DistributedDataParallel over NCCL on GPUs and gloo on CPUs.

Reads RANK, WORLD_SIZE, LOCAL_RANK, LOCAL_WORLD_SIZE, MASTER_ADDR and MASTER_PORT, which torchrun
sets. Without them it is one rank on its own.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import Any, TypeVar, cast

import torch
import torch.distributed as dist
from torch import Tensor, nn
from torch.futures import Future
from torch.nn.parallel import DistributedDataParallel
from torch.optim import Optimizer

from training.maskrcnn.engines.engine import (
    Engine,
    EngineName,
    from_bytes,
    local_device,
    to_bytes,
)

T = TypeVar("T")

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

    def wrap(self, model: nn.Module, optimizer: Optimizer) -> tuple[nn.Module, Optimizer]:
        if self.size == 1:
            return model, optimizer
        # Buffers: evaluation shares rank 0's statistics, training needs no others'.
        parallel = DistributedDataParallel(model, forward_sync_buffers=False)
        # A lambda: DistributedDataParallel refuses a hook whose annotations are text.
        parallel.register_comm_hook(None, lambda _, bucket: _sum_bucket(bucket))
        return parallel, optimizer

    @contextmanager
    def summed_gradients(self, optimizer: Optimizer) -> Iterator[None]:  # noqa: ARG002
        # DistributedDataParallel has waited at the end of backward.
        yield

    def sum(self, tensor: Tensor) -> Tensor:
        total = tensor.clone()
        if self.size > 1:
            dist.all_reduce(total)
        return total

    def gather(self, value: T) -> list[T]:
        if self.size == 1:
            return [value]
        values: list[T | None] | None = [None] * self.size if self.rank == 0 else None
        dist.gather_object(value, values)
        return cast(list[T], values or [])

    def broadcast(self, value: T) -> T:
        if self.size == 1:
            return value
        data = to_bytes(value) if self.rank == 0 else torch.empty(0, dtype=torch.uint8)
        length = torch.tensor([data.numel()], device=self.device)
        dist.broadcast(length, src=0)
        data = (
            data.to(self.device)
            if self.rank == 0
            else data.new_empty(int(length), device=self.device)
        )
        dist.broadcast(data, src=0)
        return cast(T, from_bytes(data))

    def barrier(self) -> None:
        if self.size > 1:
            dist.barrier()

    def close(self) -> None:
        if self.size > 1:
            dist.destroy_process_group()


def _sum_bucket(bucket: Any) -> Future[Tensor]:
    """Add up gradients over ranks: losses are divided by counts of all ranks already, where
    DistributedDataParallel's own mean would divide once more."""
    work = dist.all_reduce(bucket.buffer(), async_op=True)
    assert work is not None
    future: Future[list[Tensor]] = work.get_future()
    return cast(Future[Tensor], future.then(lambda done: done.value()[0]))


def start() -> Engine:
    return TorchEngine()
