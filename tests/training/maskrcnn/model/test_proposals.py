"""The short way back through the proposal network against torchvision's long one."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torchvision.models.detection.image_list import ImageList
from torchvision.models.detection.rpn import concat_box_prediction_layers

from tests.training.maskrcnn.model.no_looks import NoLooks
from training.maskrcnn.data.batch import Target
from training.maskrcnn.data.mask_crops import MaskCrops
from training.maskrcnn.model.losses import proposal_losses
from training.maskrcnn.model.maskrcnn import build_model
from training.maskrcnn.model.proposals import ProposalHead, ProposalNetwork

SHAPES = [(12, 20), (6, 10), (3, 5), (2, 3), (1, 2)]


def features(channels: int = 8) -> list[torch.Tensor]:
    generator = torch.Generator().manual_seed(1)
    return [
        torch.randn(2, channels, *shape, generator=generator).requires_grad_() for shape in SHAPES
    ]


def head(channels: int = 8, kinds: int = 3) -> ProposalHead:
    torch.manual_seed(0)
    made = ProposalHead(channels, kinds)
    for parameter in made.parameters():
        torch.nn.init.normal_(parameter, std=0.3)
    return made


def of_all(head: ProposalHead, levels: list[torch.Tensor]) -> tuple[torch.Tensor, torch.Tensor]:
    logits, deltas = concat_box_prediction_layers(*head(levels))
    return logits.view(2, -1), deltas.view(2, -1, 4)


def test_what_is_said_of_some_anchors_is_what_is_said_of_all() -> None:
    levels = features()
    count = 3 * sum(height * width for height, width in SHAPES)
    pictures = torch.tensor([0, 1]).repeat_interleave(count)
    logits, deltas = head().at(levels, pictures, torch.arange(count).repeat(2))
    all_logits, all_deltas = of_all(head(), levels)
    torch.testing.assert_close(logits.view(2, -1), all_logits, rtol=1e-5, atol=1e-5)
    torch.testing.assert_close(deltas.view(2, -1, 4), all_deltas, rtol=1e-5, atol=1e-5)


def test_gradients_are_those_of_the_way_through_all_anchors() -> None:
    pictures, anchors = torch.tensor([0, 1, 1, 0, 1]), torch.tensor([5, 700, 5, 903, 940])
    short, long = (head(), features()), (head(), features())
    own = short[0].at(short[1], pictures, anchors)
    logits, deltas = of_all(*long)
    targets = torch.ones(2, 4)
    for chosen in (own, (logits[pictures, anchors], deltas[pictures, anchors])):
        losses = proposal_losses(chosen[0], chosen[1][:2], targets)
        torch.stack([ratio.sum for ratio in losses.values()]).sum().backward()
    for own_level, level in zip(short[1], long[1], strict=True):
        torch.testing.assert_close(own_level.grad, level.grad, rtol=1e-4, atol=1e-5)
    for (name, parameter), other in zip(
        short[0].named_parameters(), long[0].parameters(), strict=True
    ):
        assert parameter.grad is not None, name
        torch.testing.assert_close(parameter.grad, other.grad, rtol=1e-4, atol=1e-5)


@pytest.fixture
def network(tiny: Any) -> ProposalNetwork:
    torch.manual_seed(0)
    return build_model(tiny(), categories=3, sum_over_ranks=lambda tensor: tensor).rpn


def target() -> Target:
    return Target(
        boxes=torch.tensor([[8.0, 10, 28, 30]]),
        labels=torch.ones(1, dtype=torch.int64),
        masks=MaskCrops.none(1),
        crowds=torch.zeros(0, 4),
        seed=3,
    )


def test_under_autocast_every_parameter_gets_its_gradient(network: ProposalNetwork) -> None:
    levels = features(16)
    images = ImageList(torch.zeros(2, 3, 48, 80), [(48, 80)] * 2)
    gradients = []
    for precision in (torch.float32, torch.bfloat16):
        network.zero_grad()
        is_mixed = precision is torch.bfloat16
        with torch.autocast("cpu", torch.bfloat16, enabled=is_mixed):
            _, losses = network(images, dict(enumerate(levels)), [target()] * 2)  # type: ignore[arg-type]
        torch.stack([ratio.sum for ratio in losses.values()]).sum().backward()
        gradients.append({name: p.grad for name, p in network.named_parameters()})
    for name, gradient in gradients[0].items():
        assert gradient is not None, name
        assert gradient.abs().max() > 0, name
        error = (gradients[1][name] - gradient).norm() / gradient.norm()
        assert error < 0.05, name


def test_a_gpu_is_not_waited_for_between_anchors_and_losses(network: ProposalNetwork) -> None:
    levels = features(16)
    images = ImageList(torch.zeros(2, 3, 48, 80), [(48, 80)] * 2)
    with torch.no_grad():
        anchors = network._anchors(images, levels)
    # Of the look for all pictures together in `sample`, which is a copy, this sees nothing.
    with NoLooks():
        losses = network._losses(levels, anchors, [target()] * 2)
        torch.stack([ratio.sum for ratio in losses.values()]).sum().backward()


def test_anchors_are_exact_under_autocast(network: ProposalNetwork) -> None:
    levels = features(16)
    images = ImageList(torch.zeros(1, 3, 384, 640), [(384, 640)])
    exact = network._anchors(images, levels)[0]
    rough = network._anchors(images, [level.bfloat16() for level in levels])[0]
    assert rough.dtype == torch.float32
    assert torch.equal(rough, exact)


def test_anchors_of_a_size_are_made_once_and_can_be_trained_with_after_evaluation(
    network: ProposalNetwork,
) -> None:
    levels = features(16)
    images = ImageList(torch.zeros(2, 3, 48, 80), [(48, 80), (40, 70)])
    with torch.inference_mode():
        first, second = network._anchors(images, levels)
    again = network._anchors(images, levels)[0]
    assert first is second is again
    assert not again.is_inference()
    theirs = network.anchor_generator(images, levels)[1]
    assert torch.equal(again, theirs)
    other = ImageList(torch.zeros(1, 3, 96, 160), [(96, 160)])
    assert not torch.equal(network._anchors(other, levels)[0], again)
