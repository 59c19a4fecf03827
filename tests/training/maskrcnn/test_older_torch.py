"""What stands in for newer versions of torch: the same results as torch's own, to the bit."""

from __future__ import annotations

import inspect
from typing import Any

import pytest
import torch
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from torch.optim import SGD, AdamW, Optimizer

from training.maskrcnn import older_torch
from training.maskrcnn.older_torch import (
    has_fused,
    own_clip_grads_with_norm_,
    own_total_norm,
    step_unless,
)
from training.maskrcnn.optimizer import build_optimizer


def parameters(scale: float) -> list[nn.Parameter]:
    """Of many shapes, with gradients, but for one."""
    generator = torch.Generator().manual_seed(7)
    shapes = ((64, 3, 7, 7), (64,), (1000, 257), (1,), (256, 64, 3, 3))
    made = [nn.Parameter(torch.randn(shape, generator=generator)) for shape in shapes]
    for parameter in made[:-1]:
        parameter.grad = torch.randn(parameter.shape, generator=generator) * scale
    return made


def gradients(of: list[nn.Parameter]) -> list[torch.Tensor]:
    return [p.grad for p in of if p.grad is not None]


@pytest.mark.parametrize("scale", [1.0, 1e-6, 1e30, float("nan"), float("inf")])
def test_norm_and_clipping_are_those_of_torch_to_the_bit(scale: float) -> None:
    ours, theirs = parameters(scale), parameters(scale)
    norm = own_total_norm(gradients(ours))
    expected = torch.nn.utils.get_total_norm(gradients(theirs))
    torch.testing.assert_close(norm, expected, rtol=0, atol=0, equal_nan=True)
    own_clip_grads_with_norm_(ours, 2.5, norm)
    torch.nn.utils.clip_grads_with_norm_(theirs, 2.5, expected)
    for own, other in zip(gradients(ours), gradients(theirs), strict=True):
        torch.testing.assert_close(own, other, rtol=0, atol=0, equal_nan=True)
    if scale == 1.0:
        assert float(own_total_norm(gradients(ours))) == pytest.approx(2.5, rel=1e-5)


def test_nothing_has_the_norm_zero_and_is_not_clipped() -> None:
    assert own_total_norm([]) == torch.nn.utils.get_total_norm([]) == 0
    own_clip_grads_with_norm_([nn.Parameter(torch.ones(2))], 1.0, torch.tensor(5.0))


def test_where_torch_has_a_function_it_is_taken() -> None:
    assert older_torch.get_total_norm is torch.nn.utils.get_total_norm
    assert older_torch.clip_grads_with_norm_ is torch.nn.utils.clip_grads_with_norm_
    assert has_fused(torch.device("cpu"))
    assert has_fused(torch.device("cuda"))
    arguments = inspect.signature(DistributedDataParallel.__init__).parameters
    assert older_torch.NO_BUFFERS == {"forward_sync_buffers": False}
    assert set(older_torch.NO_BUFFERS) <= set(arguments)


def stepped(kind: Any, *, fused: bool, held: list[bool]) -> list[list[float]]:
    """Return the weights after each step of a run in which some steps are held back."""
    weight = nn.Parameter(torch.arange(1.0, 7.0))
    options = {"momentum": 0.9} if kind is SGD else {}
    optimizer: Optimizer = kind([weight], lr=0.1, weight_decay=0.01, fused=fused, **options)
    if kind is SGD:
        optimizer.state[weight]["momentum_buffer"] = torch.zeros_like(weight)
    found = []
    for number, is_held in enumerate(held, start=1):
        weight.grad = torch.full_like(weight, float("nan") if is_held else number / 3)
        step_unless(torch.tensor(is_held), optimizer)
        found.append(weight.tolist())
    return found


@pytest.mark.parametrize("kind", [SGD, AdamW])
def test_a_step_is_held_back_whether_the_optimizer_is_fused_or_not(kind: Any) -> None:
    held = [True, False, False, True, False]
    fused, plain = (stepped(kind, fused=each, held=held) for each in (True, False))
    assert fused[0] == plain[0] == [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]
    assert fused[2] == fused[3] != fused[4]
    assert plain[2] == plain[3] != plain[4]
    for one, other in zip(fused, plain, strict=True):
        assert one == pytest.approx(other, rel=1e-6)


@pytest.mark.parametrize("name", ["sgd", "adamw", "lars"])
def test_optimizers_are_fused_only_where_torch_can(
    tiny: Any, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = nn.Linear(2, 2)
    fused = build_optimizer(model, tiny(optimizer=name)).param_groups
    assert [group["fused"] for group in fused] == [True, True]
    monkeypatch.setattr("training.maskrcnn.optimizer.has_fused", lambda _: False)
    plain = build_optimizer(model, tiny(optimizer=name)).param_groups
    assert [group["fused"] for group in plain] == [False, False]
