"""The small interface between the trainer and what joins its ranks.

No rank ever runs out of batches before the others, since all read one endless stream
(`training.maskrcnn.data.sampler`): nothing here lets a rank drop out of sums early, which is what
Horovod's and torch's `join` are for.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from typing import Literal, Protocol, TypeVar

import torch
from torch import Tensor, nn
from torch.optim import Optimizer

EngineName = Literal["horovod", "torch", "smddp"]
Compression = Literal["none", "fp16", "bf16"]
T = TypeVar("T")

BegunSum = Callable[[], Tensor]
"""Waits for a sum that is on its way, and returns it; called once."""


class Engine(Protocol):
    """One rank's view of the job. Every method that communicates is called by all ranks alike."""

    name: EngineName
    rank: int
    size: int
    local_rank: int
    local_size: int
    device: torch.device

    def wrap(
        self,
        model: nn.Module,
        optimizer: Optimizer,
        *,
        passes: int = 1,
        compression: Compression = "none",
    ) -> tuple[nn.Module, Optimizer]:
        """Make `backward` start to add up each gradient over all ranks, as it becomes ready.

        Args:
            passes: Backward passes of one step; gradients travel in the last one.
            compression: The type that gradients have on their way.

        Returns:
            The model to call and the optimizer to step.

        Raises:
            UsageError: The engine cannot add up numbers of that type.
        """

    def local_gradients(self, model: nn.Module) -> AbstractContextManager[None]:
        """Inside, forward and backward of the wrapped model add to this rank's gradients alone:
        a pass of a step that is not its last."""

    def summed_gradients(self, optimizer: Optimizer) -> AbstractContextManager[None]:
        """Wait, on entry, until all gradients are summed; the optimizer steps inside."""

    def sum(self, tensor: Tensor) -> Tensor:
        """Return the sum of a tensor over all ranks; the tensor itself stays.

        One rank alone does not wait for its GPU, nor do ranks joined by NCCL below `torch`.
        """

    def begin_sum(self, tensor: Tensor, name: str) -> BegunSum:
        """Begin to add up a tensor over all ranks, which `sum` would wait for.

        Args:
            tensor: Not to be changed meanwhile.
            name: Of the sum; no two under way have the same one.
        """

    def gather(self, value: T) -> list[T]:
        """Return the values of all ranks, in their order, on rank 0; elsewhere an empty list.

        The values travel to rank 0 one after the other: no rank holds another's but rank 0, and
        rank 0 holds the bytes of one at a time.
        """

    def broadcast(self, value: T, *, root: int = 0) -> T:
        """Return one rank's value."""

    def barrier(self) -> None:
        """Wait for all ranks."""

    def close(self) -> None:
        """Leave the job in good order. Not called after an error: it would wait for the others."""


PART_BYTES = 2**26
"""A value travels to rank 0 in parts of this size: GPUs keep free memory, and MPI counts in 32
bits."""


def parts_of(length: int) -> Iterator[slice]:
    """Yield the parts of so many bytes, in order."""
    for begin in range(0, length, PART_BYTES):
        yield slice(begin, min(begin + PART_BYTES, length))


def to_bytes(value: object) -> Tensor:
    """Serialize a value as (N,) uint8; tensors keep their type and move to the CPU."""
    buffer = io.BytesIO()
    torch.save(value, buffer)
    # The buffer's own memory, which lives as long as the tensor.
    return torch.frombuffer(buffer.getbuffer(), dtype=torch.uint8)


def from_bytes(data: Tensor) -> object:
    """Read what `to_bytes` wrote."""
    buffer = io.BytesIO(data.cpu().numpy().data)
    # Sent by another rank of this job, not read from a file.
    value: object = torch.load(buffer, map_location="cpu", weights_only=False)
    return value


def local_device(local_rank: int) -> torch.device:
    """Return this rank's GPU, or the CPU where there is none, and make it the current device."""
    if not torch.cuda.is_available():
        return torch.device("cpu")
    device = torch.device("cuda", local_rank)
    torch.cuda.set_device(device)
    return device
