"""What batch norm remembers, kept in step with the weights."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from torch import nn
from torch.nn.modules.batchnorm import _BatchNorm


@contextmanager
def undone_on_failure(model: nn.Module) -> Iterator[None]:
    """Put batch norm's averages back if a step fails: its forward pass has changed them already,
    where the weights change at its end. Norms without averages cost nothing."""
    norms = [module for module in model.modules() if isinstance(module, _BatchNorm)]
    before = [(buffer, buffer.clone()) for norm in norms for buffer in norm.buffers()]
    try:
        yield
    except BaseException:
        for buffer, value in before:
            buffer.copy_(value)
        raise
