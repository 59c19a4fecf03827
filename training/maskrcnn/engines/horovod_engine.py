"""Horovod: started by horovodrun or mpirun; without them it is one rank on its own.

Every message has a name of its own. Horovod numbers those without one, and a rank that comes into
an elastic job later would count from another number.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any, TypeVar, cast

import horovod.torch as hvd
import torch
from torch import Tensor, nn
from torch.optim import Optimizer

from training.errors import UsageError
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
from training.maskrcnn.horovod_limits import NO_BF16, NO_HIERARCHY
from training.maskrcnn.hyperparameters import Hyperparameters

T = TypeVar("T")

POLL_S = 0.0005


class HorovodEngine:
    """Ranks joined by Horovod. After `close`, or a failure and `hvd.shutdown`, make another."""

    name: EngineName = "horovod"

    def __init__(self) -> None:
        hvd.init()
        self.rank: int = hvd.rank()
        self.size: int = hvd.size()
        self.local_rank: int = hvd.local_rank()
        self.local_size: int = hvd.local_size()
        self.device = local_device(self.local_rank)

    def wrap(
        self,
        model: nn.Module,
        optimizer: Optimizer,
        *,
        passes: int = 1,
        compression: Compression = "none",
    ) -> tuple[nn.Module, Optimizer]:
        if compression == "bf16":
            raise UsageError(f"{NO_BF16}, or --engine torch")
        trained = [(name, p) for name, p in model.named_parameters() if p.requires_grad]
        summing = hvd.DistributedOptimizer(
            optimizer,
            named_parameters=trained,
            # Sum, not mean: losses are divided by counts of all ranks already.
            op=hvd.Sum,
            backward_passes_per_step=passes,
            compression=hvd.Compression.fp16 if compression == "fp16" else hvd.Compression.none,
        )
        return model, cast(Optimizer, summing)

    def local_gradients(self, model: nn.Module) -> AbstractContextManager[None]:  # noqa: ARG002
        # Horovod counts the passes itself.
        return nullcontext()

    @contextmanager
    def summed_gradients(self, optimizer: Optimizer) -> Iterator[None]:
        distributed = cast(Any, optimizer)
        for handle, _ in distributed._handles.values():
            self._wait(handle)
        distributed.synchronize()
        with distributed.skip_synchronize():
            yield

    def sum(self, tensor: Tensor) -> Tensor:
        return self.begin_sum(tensor, f"sum of {tensor.numel()}")()

    def begin_sum(self, tensor: Tensor, name: str) -> BegunSum:
        if self.size == 1:
            return tensor.clone
        handle = hvd.allreduce_async(tensor, op=hvd.Sum, name=name)

        def finish() -> Tensor:
            self._wait(handle)
            return cast(Tensor, hvd.synchronize(handle))

        return finish

    def _wait(self, handle: int | None) -> None:
        """Wait for a message, and leave the core to the thread of Horovod that works for it.

        Horovod's own wait asks again at once, without end. On one core for each rank that doubled
        the processor time of a sum, and gradients took a third longer.
        """
        if handle is None or self.device.type != "cpu":
            return
        while not hvd.poll(handle):
            time.sleep(POLL_S)

    def gather(self, value: T) -> list[T]:
        data = to_bytes(value) if self.rank != 0 else torch.empty(0, dtype=torch.uint8)
        lengths = hvd.allgather(torch.tensor([data.numel()]), name="lengths").tolist()
        values = [value]
        for sender, length in enumerate(lengths[1:], start=1):
            received = self._send_to_rank_0(data, sender, length)
            if self.rank == 0:
                values.append(cast(T, from_bytes(received)))
        return values if self.rank == 0 else []

    def _send_to_rank_0(self, data: Tensor, sender: int, length: int) -> Tensor:
        """Send one rank's bytes; all ranks call it alike, rank 0 gets them: (length,) uint8."""
        received = torch.empty(length if self.rank == 0 else 0, dtype=torch.uint8)
        for part in parts_of(length):
            own = data[part] if self.rank == sender else torch.empty(0, dtype=torch.uint8)
            to_rank_0 = torch.tensor([own.numel()] + [0] * (self.size - 1), dtype=torch.int32)
            moved, _ = hvd.alltoall(own, splits=to_rank_0, name="to rank 0")
            if self.rank == 0:
                received[part] = moved
        return received

    def broadcast(self, value: T, *, root: int = 0) -> T:
        if self.size == 1:
            return value
        data = to_bytes(value) if self.rank == root else torch.empty(0, dtype=torch.uint8)
        length = hvd.broadcast(torch.tensor([data.numel()]), root_rank=root, name="length")
        if self.rank != root:
            data = torch.empty(int(length), dtype=torch.uint8)
        return cast(T, from_bytes(hvd.broadcast(data, root_rank=root, name="value")))

    def barrier(self) -> None:
        hvd.barrier()

    def close(self) -> None:
        hvd.shutdown()


def start(hyperparameters: Hyperparameters | None = None) -> Engine:
    """Join the other ranks.

    Raises:
        UsageError: This build of Horovod has no hierarchical sums.
    """
    if hyperparameters is not None:
        os.environ.update(_variables(hyperparameters))
    return HorovodEngine()


def _variables(hyperparameters: Hyperparameters) -> dict[str, str]:
    """Return the options that Horovod reads when it begins; what is not given stays as it is.

    https://horovod.readthedocs.io/en/stable/tensor-fusion_include.html
    """
    if hyperparameters.horovod_hierarchical_allreduce and not hvd.nccl_built():
        raise UsageError(NO_HIERARCHY)
    given = {
        "HOROVOD_FUSION_THRESHOLD": hyperparameters.horovod_fusion_threshold,
        "HOROVOD_CYCLE_TIME": hyperparameters.horovod_cycle_time,
        "HOROVOD_HIERARCHICAL_ALLREDUCE": hyperparameters.horovod_hierarchical_allreduce or None,
    }
    return {
        name: str(int(value) if isinstance(value, bool) else value)
        for name, value in given.items()
        if value is not None
    }
