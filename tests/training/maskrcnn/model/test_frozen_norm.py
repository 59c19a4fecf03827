"""Folded layers against convolution and norm one after the other."""

from __future__ import annotations

import copy
from typing import Any

import pytest
import torch
from torch import nn
from torchvision.models import mobilenet_v3_small, resnet18, resnet50

from training.maskrcnn.model.frozen_norm import FoldedConv2d, FrozenNorm2d, fold_frozen_norms


def network(build: Any) -> nn.Module:
    torch.manual_seed(0)
    made: nn.Module = build(weights=None, norm_layer=FrozenNorm2d)
    for module in made.modules():
        if isinstance(module, FrozenNorm2d):
            for buffer in (module.weight, module.running_var):
                nn.init.uniform_(buffer, 0.5, 1)
            for buffer in (module.bias, module.running_mean):
                nn.init.normal_(buffer, std=0.1)
    return made


@pytest.mark.parametrize("build", [resnet18, resnet50, mobilenet_v3_small])
def test_folding_changes_neither_values_nor_gradients_nor_names(build: Any) -> None:
    plain, folded = network(build).eval(), network(build).eval()
    fold_frozen_norms(folded)
    assert all(m.is_folded for m in folded.modules() if isinstance(m, FrozenNorm2d))
    assert list(plain.state_dict()) == list(folded.state_dict())
    pictures = torch.randn(1, 3, 64, 64)
    outputs = [model(pictures) for model in (plain, folded)]
    torch.testing.assert_close(outputs[0], outputs[1], rtol=1e-4, atol=1e-4)
    for output in outputs:
        (output / output.abs().amax().detach()).sum().backward()
    for (name, one), other in zip(plain.named_parameters(), folded.parameters(), strict=True):
        error = (one.grad - other.grad).norm() / one.grad.norm().clamp(min=1e-6)  # type: ignore[union-attr,operator]
        assert error < 1e-4, name


def test_one_layer_is_the_same_to_the_fifth_decimal() -> None:
    layers = nn.Sequential(nn.Conv2d(4, 6, 3, bias=False), FrozenNorm2d(6))
    layers[1].running_var.uniform_(0.5, 2)
    layers[1].running_mean.normal_()
    pictures = torch.randn(2, 4, 9, 9)
    before = layers(pictures)
    fold_frozen_norms(layers)
    torch.testing.assert_close(layers(pictures), before, rtol=1e-5, atol=1e-5)


def test_norms_loaded_after_folding_count_and_a_copy_has_its_own() -> None:
    layers = nn.Sequential(nn.Conv2d(4, 6, 3, bias=False), FrozenNorm2d(6))
    fold_frozen_norms(layers)
    other = copy.deepcopy(layers)
    other.load_state_dict({**layers.state_dict(), "1.bias": torch.full((6,), 3.0)})
    pictures = torch.randn(2, 4, 9, 9)
    torch.testing.assert_close(other(pictures), layers(pictures) + 3)


def test_a_norm_without_its_convolution_stays() -> None:
    layers = nn.Sequential(nn.Conv2d(4, 6, 3, bias=True), FrozenNorm2d(6))
    fold_frozen_norms(layers)
    assert not isinstance(layers[0], FoldedConv2d)
    assert not layers[1].is_folded


def test_under_autocast_features_stay_small() -> None:
    layers = nn.Sequential(nn.Conv2d(4, 6, 3, bias=False), FrozenNorm2d(6))
    fold_frozen_norms(layers)
    with torch.autocast("cpu", torch.bfloat16):
        assert layers(torch.randn(2, 4, 9, 9)).dtype == torch.bfloat16
