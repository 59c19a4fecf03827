"""A moving average of the weights, which is often the better model.

After each step `average = decay * average + (1 - decay) * weights` (Polyak and Juditsky, 1992, as
in TensorFlow's `ExponentialMovingAverage` and torchvision's references). At first the decay is
smaller, `(1 + steps) / (10 + steps)`, so that weights from the beginning are soon forgotten
(https://www.tensorflow.org/api_docs/python/tf/train/ExponentialMovingAverage).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Protocol

import torch
from torch import nn


class Average(Protocol):
    """What the step does with the weights that it made."""

    def update(self) -> None:
        """Take in the weights after a step."""

    def swap(self) -> None:
        """Exchange the model's weights with the average."""

    def state_dict(self) -> dict[str, Any]: ...

    def load_state_dict(self, state: Mapping[str, Any]) -> None: ...


class NoAverage:
    """The weights themselves."""

    def update(self) -> None:
        pass

    def swap(self) -> None:
        pass

    def state_dict(self) -> dict[str, Any]:
        return {}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        pass


class MovingAverage:
    """Of all trained parameters. Buffers, such as the statistics of batch norm, stay the model's:
    they are averages of their own."""

    def __init__(self, model: nn.Module, decay: float) -> None:
        trained = {name: p for name, p in model.named_parameters() if p.requires_grad}
        self._names = list(trained)
        self._weights = [p.detach() for p in trained.values()]
        self._average = [weight.clone() for weight in self._weights]
        self._decay = decay
        self._steps = 0

    def update(self) -> None:
        decay = min(self._decay, (1 + self._steps) / (10 + self._steps))
        torch._foreach_lerp_(self._average, self._weights, 1 - decay)
        self._steps += 1

    def swap(self) -> None:
        for weight, average in zip(self._weights, self._average, strict=True):
            kept = weight.clone()
            weight.copy_(average)
            average.copy_(kept)

    def state_dict(self) -> dict[str, Any]:
        return {
            "steps": self._steps,
            "weights": dict(zip(self._names, self._average, strict=True)),
        }

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Go on from a state; from none, of a run without an average, with the model's weights."""
        if not state:
            for average, weight in zip(self._average, self._weights, strict=True):
                average.copy_(weight)
            return
        self._steps = state["steps"]
        for name, average in zip(self._names, self._average, strict=True):
            average.copy_(state["weights"][name])


def build_average(model: nn.Module, decay: float | None) -> Average:
    return NoAverage() if decay is None else MovingAverage(model, decay)


@contextmanager
def swapped_in(average: Average) -> Iterator[None]:
    """Inside, the model has the averaged weights."""
    average.swap()
    try:
        yield
    finally:
        average.swap()
