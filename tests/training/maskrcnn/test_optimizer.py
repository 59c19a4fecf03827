from __future__ import annotations

from typing import Any

import pytest
from torch import nn

from training.maskrcnn.optimizer import build_optimizer


@pytest.mark.parametrize(
    ("name", "kind", "decay"),
    [
        ("sgd", "SGD", "weight_decay"),
        ("adamw", "AdamW", "weight_decay"),
        ("lars", "Lars", "layer_decay"),
    ],
)
def test_only_weights_decay_and_frozen_parameters_are_left_out(
    tiny: Any, name: str, kind: str, decay: str
) -> None:
    model = nn.Sequential(nn.Conv2d(3, 8, 3), nn.GroupNorm(1, 8), nn.Conv2d(8, 2, 1))
    model[2].requires_grad_(False)
    optimizer = build_optimizer(model, tiny(optimizer=name, weight_decay=0.05))
    assert type(optimizer).__name__ == kind
    decaying, others = optimizer.param_groups
    assert [p is model[0].weight for p in decaying["params"]] == [True]
    assert decaying[decay] == 0.05
    assert (
        sum(key in decaying and decaying[key] > 0 for key in ("weight_decay", "layer_decay")) == 1
    )
    assert {id(p) for p in others["params"]} == {
        id(p) for p in (model[0].bias, model[1].weight, model[1].bias)
    }
    assert others["weight_decay"] == 0
    assert "layer_decay" not in others
