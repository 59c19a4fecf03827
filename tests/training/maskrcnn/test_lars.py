from __future__ import annotations

from typing import Any

import torch
from torch import nn

from training.maskrcnn.optimizer import build_optimizer


def test_each_layer_has_a_rate_of_its_own_and_norms_and_biases_the_plain_one(tiny: Any) -> None:
    """You et al., 2017, by hand: rate * trust * |w| / (|g| + decay * |w|) for weights."""
    layer = nn.Linear(2, 1)
    with torch.no_grad():
        layer.weight.copy_(torch.tensor([[3.0, 4.0]]))
        layer.bias.fill_(1.0)
    optimizer = build_optimizer(
        layer,
        tiny(
            optimizer="lars",
            weight_decay=0.1,
            momentum=0.5,
            base_learning_rate=2.0,
            lars_trust_coefficient=0.01,
        ),
    )
    gradient = torch.tensor([[0.0, 2.0]])
    velocity = torch.zeros(1, 2)
    weight, bias = layer.weight.detach().clone(), layer.bias.detach().clone()
    bias_velocity = 0.0
    for _ in range(3):
        layer.weight.grad, layer.bias.grad = gradient.clone(), torch.tensor([0.25])
        optimizer.step()
        share = 0.01 * weight.norm() / (2.0 + 0.1 * weight.norm())
        velocity = 0.5 * velocity + share * (gradient + 0.1 * weight)
        weight = weight - 2.0 * velocity
        bias_velocity = 0.5 * bias_velocity + 0.25
        bias = bias - 2.0 * bias_velocity
        torch.testing.assert_close(layer.weight.detach(), weight)
        torch.testing.assert_close(layer.bias.detach(), bias)


def test_a_layer_of_zeros_and_one_without_gradient_take_the_plain_rate(tiny: Any) -> None:
    model = nn.ModuleList([nn.Linear(2, 1, bias=False), nn.Linear(2, 1, bias=False)])
    with torch.no_grad():
        model[0].weight.zero_()
        model[1].weight.fill_(1.0)
    optimizer = build_optimizer(
        model, tiny(optimizer="lars", weight_decay=0, base_learning_rate=1.0)
    )
    model[0].weight.grad = torch.full((1, 2), 0.5)
    model[1].weight.grad = torch.zeros(1, 2)
    optimizer.step()
    torch.testing.assert_close(model[0].weight.detach(), torch.full((1, 2), -0.5))
    torch.testing.assert_close(model[1].weight.detach(), torch.ones(1, 2))
