"""Numbers that a step leaves on a GPU, read by the host without making it wait."""

from __future__ import annotations

import torch
from torch import Tensor


class Readback:
    """A copy of some numbers to the host: it begins now, and is read later."""

    def __init__(self, numbers: Tensor) -> None:
        """Args:
        numbers: (N,) on any device.
        """
        # From a GPU into pinned memory; on a CPU it is the tensor itself.
        self._copy = numbers.to("cpu", non_blocking=True)
        self._done = torch.Event(numbers.device) if numbers.is_cuda else None
        if self._done is not None:
            self._done.record()

    def read(self) -> list[float]:
        """Return the numbers; waits until the device has got so far."""
        if self._done is not None:
            self._done.synchronize()
        values: list[float] = self._copy.tolist()
        return values
