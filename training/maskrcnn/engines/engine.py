"""The small interface between the trainer and what joins its ranks."""

from __future__ import annotations

import io
from contextlib import AbstractContextManager
from typing import Literal, Protocol, TypeVar

import torch
from torch import Tensor, nn
from torch.optim import Optimizer

EngineName = Literal["horovod", "torch", "smddp"]
T = TypeVar("T")


class Engine(Protocol):
    """One rank's view of the job. Every method that communicates is called by all ranks alike."""

    name: EngineName
    rank: int
    size: int
    local_rank: int
    local_size: int
    device: torch.device

    def wrap(self, model: nn.Module, optimizer: Optimizer) -> tuple[nn.Module, Optimizer]:
        """Make `backward` start to add up each gradient over all ranks, as it becomes ready.

        Returns:
            The model to call and the optimizer to step.
        """

    def summed_gradients(self, optimizer: Optimizer) -> AbstractContextManager[None]:
        """Wait, on entry, until all gradients are summed; the optimizer steps inside."""

    def sum(self, tensor: Tensor) -> Tensor:
        """Return the sum of a tensor over all ranks; the tensor itself stays."""

    def gather(self, value: T) -> list[T]:
        """Return the values of all ranks, in their order, on rank 0; elsewhere an empty list."""

    def broadcast(self, value: T) -> T:
        """Return rank 0's value."""

    def barrier(self) -> None:
        """Wait for all ranks."""

    def close(self) -> None:
        """Leave the job in good order. Not called after an error: it would wait for the others."""


def to_bytes(value: object) -> Tensor:
    """Serialize a value as (N,) uint8; tensors keep their type and move to the CPU."""
    buffer = io.BytesIO()
    torch.save(value, buffer)
    return torch.frombuffer(bytearray(buffer.getvalue()), dtype=torch.uint8)


def from_bytes(data: Tensor) -> object:
    """Read what `to_bytes` wrote."""
    buffer = io.BytesIO(data.cpu().numpy().tobytes())
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
