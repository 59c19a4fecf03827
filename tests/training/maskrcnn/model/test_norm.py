from __future__ import annotations

import pytest
import torch
from torch import nn

from training.maskrcnn.model.norm import SyncBatchNorm2d, thin_group_norm


def test_sync_batch_norm_of_one_rank_is_batch_norm() -> None:
    torch.manual_seed(0)
    ours, theirs = SyncBatchNorm2d(6, lambda tensor: tensor, eps=1e-5), nn.BatchNorm2d(6)
    theirs.load_state_dict(ours.state_dict())
    own_input = (torch.randn(3, 6, 5, 4) * 2 + 1).requires_grad_()
    their_input = own_input.detach().clone().requires_grad_()
    weights = torch.randn(3, 6, 5, 4)
    own_output, their_output = ours(own_input), theirs(their_input)
    (own_output * weights).sum().backward()
    (their_output * weights).sum().backward()
    torch.testing.assert_close(own_output, their_output)
    torch.testing.assert_close(own_input.grad, their_input.grad, rtol=1e-4, atol=1e-5)
    torch.testing.assert_close(ours.weight.grad, theirs.weight.grad, rtol=1e-4, atol=1e-4)
    torch.testing.assert_close(ours.state_dict(), theirs.state_dict())
    torch.testing.assert_close(ours.eval()(own_input), theirs.eval()(their_input))


def test_sync_batch_norm_without_values_changes_nothing() -> None:
    norm = SyncBatchNorm2d(2, lambda tensor: tensor, eps=1e-5)
    norm(torch.randn(3, 2, 5, 4))
    before = [norm.running_mean.clone(), norm.running_var.clone()]  # type: ignore[union-attr]
    norm(torch.zeros(0, 2, 5, 4)).sum().backward()
    assert torch.equal(norm.running_mean, before[0])  # type: ignore[arg-type]
    assert torch.equal(norm.running_var, before[1])  # type: ignore[arg-type]
    assert [p.grad.tolist() for p in norm.parameters()] == [[0, 0], [0, 0]]


@pytest.mark.parametrize(
    ("channels", "groups"), [(8, 1), (16, 2), (24, 3), (72, 9), (256, 32), (264, 24), (576, 32)]
)
def test_thin_layers_have_at_least_eight_channels_a_group(channels: int, groups: int) -> None:
    assert thin_group_norm(channels).num_groups == groups
