"""LARS: stochastic gradient descent with a rate of its own for each layer.

In large global batches, with the large rates that belong to them, some layers' gradients are too
large for their weights, and training diverges. LARS lets a step change each layer by the same
share of its norm (You, Gitman and Ginsburg: Large Batch Training of Convolutional Networks, 2017,
https://arxiv.org/abs/1708.03888, equation 6):

    rate of a layer = rate * trust_coefficient * |w| / (|g| + weight_decay * |w|)

One thing differs from the paper's algorithm 1: the rate multiplies the momentum, as in torch's
SGD, and not the gradients that the momentum adds up, so that a drop of the rate holds at once.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor
from torch.optim import SGD

TRUST = "trust_coefficient"
DECAY = "layer_decay"
"""Weight decay; it is scaled with the gradient, so that SGD must not add its own."""


class Lars(SGD):
    """torch's SGD; the layers of groups that have the keys TRUST and DECAY adapt their rates.

    Others, norms and biases, take the rate as it is.
    """

    @torch.no_grad()
    def step(self, closure: Callable[[], float] | None = None) -> Any:
        for group in self.param_groups:
            if TRUST in group:
                _scale_gradients(group)
        return super().step(closure)


def _scale_gradients(group: dict[str, Any]) -> None:
    """Multiply each layer's gradient, weight decay included, by the layer's share of the rate."""
    weights: list[Tensor] = [p for p in group["params"] if p.grad is not None]
    gradients = [p.grad for p in weights if p.grad is not None]
    if not weights:
        return
    decay = group[DECAY]
    weight_norms = torch.stack(torch._foreach_norm(weights))
    gradient_norms = torch.stack(torch._foreach_norm(gradients))
    shares = group[TRUST] * weight_norms / (gradient_norms + decay * weight_norms)
    # A layer that is zero, or has no gradient, would never move, or divide by zero.
    is_usable = (weight_norms > 0) & (gradient_norms > 0)
    shares = torch.where(is_usable, shares, torch.ones_like(shares))
    torch._foreach_add_(gradients, weights, alpha=decay)
    torch._foreach_mul_(gradients, shares.unbind())
