"""Horovod: started by horovodrun or mpirun; without them it is one rank on its own."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, TypeVar, cast

import horovod.torch as hvd
import torch
from torch import Tensor, nn
from torch.optim import Optimizer

from training.maskrcnn.engines.engine import (
    Engine,
    EngineName,
    from_bytes,
    local_device,
    to_bytes,
)

T = TypeVar("T")


class HorovodEngine:
    """Ranks joined by Horovod."""

    name: EngineName = "horovod"

    def __init__(self) -> None:
        hvd.init()
        self.rank: int = hvd.rank()
        self.size: int = hvd.size()
        self.local_rank: int = hvd.local_rank()
        self.local_size: int = hvd.local_size()
        self.device = local_device(self.local_rank)

    def wrap(self, model: nn.Module, optimizer: Optimizer) -> tuple[nn.Module, Optimizer]:
        trained = [(name, p) for name, p in model.named_parameters() if p.requires_grad]
        # Sum, not mean: losses are divided by counts of all ranks already.
        summing = hvd.DistributedOptimizer(optimizer, named_parameters=trained, op=hvd.Sum)
        return model, cast(Optimizer, summing)

    @contextmanager
    def summed_gradients(self, optimizer: Optimizer) -> Iterator[None]:
        distributed = cast(Any, optimizer)
        distributed.synchronize()
        with distributed.skip_synchronize():
            yield

    def sum(self, tensor: Tensor) -> Tensor:
        return cast(Tensor, hvd.allreduce(tensor, op=hvd.Sum))

    def gather(self, value: T) -> list[T]:
        data = to_bytes(value)
        lengths = hvd.allgather(torch.tensor([data.numel()]))
        parts = hvd.allgather(data).split(lengths.tolist())
        return [cast(T, from_bytes(part)) for part in parts] if self.rank == 0 else []

    def broadcast(self, value: T) -> T:
        data = to_bytes(value) if self.rank == 0 else torch.empty(0, dtype=torch.uint8)
        length = hvd.broadcast(torch.tensor([data.numel()]), root_rank=0)
        if self.rank != 0:
            data = torch.empty(int(length), dtype=torch.uint8)
        return cast(T, from_bytes(hvd.broadcast(data, root_rank=0)))

    def barrier(self) -> None:
        hvd.barrier()

    def close(self) -> None:
        hvd.shutdown()


def start() -> Engine:
    return HorovodEngine()
