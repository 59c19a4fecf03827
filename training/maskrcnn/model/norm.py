"""The norm layers that `batch_norm` chooses between."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

import torch
from torch import Tensor, nn

from training.maskrcnn.model.frozen_norm import FrozenNorm2d

NormKind = Literal["FreezeBN", "SyncBN", "GN", "None"]
MakeNorm = Callable[[int], nn.Module]
"""Builds the norm of a layer with so many channels."""
SumOverRanks = Callable[[Tensor], Tensor]

GROUPS = 32
"""Of group norm (Wu and He, 2018)."""
THIN_GROUP = 8


def group_norm(channels: int) -> nn.GroupNorm:
    """Return group norm with 32 groups."""
    return nn.GroupNorm(GROUPS, channels)


def thin_group_norm(channels: int) -> nn.GroupNorm:
    """Return group norm with at most 32 groups, of at least eight channels each.

    Small groups forget how strong a channel is against the others, which thin layers need.
    """
    most = min(GROUPS, channels // THIN_GROUP)
    return nn.GroupNorm(max(n for n in range(1, most + 1) if channels % n == 0), channels)


def choose_norm(
    kind: NormKind,
    sum_over_ranks: SumOverRanks,
    *,
    eps: float = 1e-5,
    group_norm: MakeNorm = group_norm,
) -> MakeNorm:
    """Return the builder of the backbone's norm layers.

    Args:
        sum_over_ranks: Adds a tensor up over all ranks; only SyncBN uses it.
        eps: Of batch norm, added to variances. MobileNet's weights were trained with 1e-3.
        group_norm: What GN means.
    """
    match kind:
        case "FreezeBN":
            return lambda channels: FrozenNorm2d(channels, eps=eps)
        case "SyncBN":
            return lambda channels: SyncBatchNorm2d(channels, sum_over_ranks, eps=eps)
        case "GN":
            return group_norm
        case "None":
            return lambda channels: nn.BatchNorm2d(channels, eps=eps)


class _SumOverRanks(torch.autograd.Function):
    """A sum over all ranks that gradients flow through: its gradient is summed in the same way."""

    @staticmethod
    def forward(ctx: Any, tensor: Tensor, sum_over_ranks: SumOverRanks) -> Tensor:
        ctx.sum_over_ranks = sum_over_ranks
        return sum_over_ranks(tensor)

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, None]:
        return ctx.sum_over_ranks(gradient.contiguous()), None


class SyncBatchNorm2d(nn.BatchNorm2d):
    """Batch norm over the pictures of all ranks, on any device and engine.

    torch's and Horovod's own take only GPU tensors.
    """

    def __init__(self, channels: int, sum_over_ranks: SumOverRanks, *, eps: float) -> None:
        super().__init__(channels, eps=eps)
        self._sum = sum_over_ranks

    def forward(self, features: Tensor) -> Tensor:
        if not self.training:
            return super().forward(features)
        values = features.float()
        mean, variance, count = self._statistics(values)
        unbiased = variance.detach() * count / (count - 1).clamp(min=1)
        self._update_running(mean.detach(), unbiased, count)
        scale = self.weight * torch.rsqrt(variance + self.eps)
        shift = self.bias - mean * scale
        return (values * scale[:, None, None] + shift[:, None, None]).to(features.dtype)

    def _statistics(self, values: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Return mean and variance of each channel, and the number of values of one."""
        # Sums in float64: the variance is a small difference of large numbers.
        double = torch.float64
        count = values.new_full((1,), values.numel() / values.shape[1], dtype=double)
        sums = torch.cat(
            [
                values.sum(dim=(0, 2, 3), dtype=double),
                (values * values).sum(dim=(0, 2, 3), dtype=double),
                count,
            ]
        )
        total: Tensor = _SumOverRanks.apply(sums, self._sum)
        # Stays on the device: to read it would make the host wait in each layer.
        all_count = total[-1].detach()
        # None: the head without a pyramid, where crowds cover all pictures of a step.
        mean, mean_of_squares = (total[:-1] / all_count.clamp(min=1)).chunk(2)
        variance = (mean_of_squares - mean * mean).clamp(min=0)
        return mean.float(), variance.float(), all_count

    def _update_running(self, mean: Tensor, variance: Tensor, count: Tensor) -> None:
        """Move the averages; without any value they stay, as torch's do."""
        assert self.running_mean is not None
        assert self.running_var is not None
        assert self.momentum is not None
        assert self.num_batches_tracked is not None
        weight = (count > 0).float() * self.momentum
        with torch.no_grad():
            self.running_mean.lerp_(mean, weight)
            self.running_var.lerp_(variance, weight)
            self.num_batches_tracked.add_(1)
