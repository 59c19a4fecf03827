"""Frozen batch norm as a part of the convolution before it.

With constants for mean and variance, norm after convolution is a convolution with other weights
and a bias. On its own the norm reads and writes all features twice, and under autocast, where its
constants are float32, it makes float32 of them for all layers that follow.
"""

from __future__ import annotations

from itertools import pairwise

from torch import Tensor, nn
from torchvision.ops.misc import FrozenBatchNorm2d


class FrozenNorm2d(FrozenBatchNorm2d):
    """torchvision's; once folded, the convolution before it does its work."""

    is_folded = False

    def scale_and_shift(self) -> tuple[Tensor, Tensor]:
        """Return what the features of each channel are multiplied with, and what is added: (C,)."""
        scale = self.weight * (self.running_var + self.eps).rsqrt()
        return scale, self.bias - self.running_mean * scale

    def forward(self, x: Tensor) -> Tensor:
        if self.is_folded:
            return x
        normalized: Tensor = super().forward(x)
        return normalized


class FoldedConv2d(nn.Conv2d):
    """A convolution and the frozen norm after it.

    The weights stay those of the convolution alone: they train, and are saved, as before.
    """

    def __init__(self, convolution: nn.Conv2d, norm: FrozenNorm2d) -> None:
        """Take over a convolution without bias."""
        super().__init__(
            convolution.in_channels,
            convolution.out_channels,
            convolution.kernel_size,  # type: ignore[arg-type]
            convolution.stride,  # type: ignore[arg-type]
            convolution.padding,  # type: ignore[arg-type]
            convolution.dilation,  # type: ignore[arg-type]
            convolution.groups,
            bias=False,
            # Weights of its own would be drawn in vain, and change the random numbers after them.
            device="meta",
        )
        self.weight = convolution.weight
        # In a tuple, which does not register it: it is its parent's child already.
        self._norm = (norm,)

    def forward(self, x: Tensor) -> Tensor:
        scale, shift = self._norm[0].scale_and_shift()
        features: Tensor = self._conv_forward(x, self.weight * scale[:, None, None, None], shift)
        return features


def fold_frozen_norms(network: nn.Module) -> None:
    """Make one layer of each convolution and the frozen norm registered right after it."""
    for parent in list(network.modules()):
        for (name, convolution), (_, norm) in pairwise(list(parent.named_children())):
            if (
                isinstance(norm, FrozenNorm2d)
                and isinstance(convolution, nn.Conv2d)
                and convolution.bias is None
            ):
                setattr(parent, name, FoldedConv2d(convolution, norm))
                norm.is_folded = True
