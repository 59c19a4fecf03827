"""The model without a pyramid, and models without masks."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from tests.training.maskrcnn.model.test_maskrcnn import SIZE, build, pictures, target
from training.maskrcnn.model.losses import loss_names, ratio_names

C4 = {"mode_fpn": False, "resnet_arch": "resnet18", "roi_batch_per_image": 6}


def total(ratios: Any, *, mode_mask: bool) -> torch.Tensor:
    losses = [ratios[name].sum / max(ratios[name].count, 1) for name in loss_names(mode_mask)]
    return torch.stack(losses).sum()


@pytest.mark.parametrize("objects", [(0, 3), (0, 0)])
@pytest.mark.parametrize(
    ("mode_mask", "batch_norm"),
    [(True, "SyncBN"), (False, "GN")],
)
def test_any_picture_gives_finite_losses_and_a_gradient_for_every_parameter(
    tiny: Any, mode_mask: bool, batch_norm: str, objects: tuple[int, int]
) -> None:
    model = build(tiny(**C4, mode_mask=mode_mask, batch_norm=batch_norm))
    targets = [target(objects=number) for number in objects]
    ratios = model(pictures(2), [SIZE, SIZE], targets)
    assert set(ratios) == set(ratio_names(mode_mask))
    loss = total(ratios, mode_mask=mode_mask)
    assert torch.isfinite(loss)
    loss.backward()
    for name, parameter in model.named_parameters():
        assert parameter.grad is not None, name
        assert torch.isfinite(parameter.grad).all(), name


@pytest.mark.parametrize("mode_mask", [True, False])
@pytest.mark.parametrize("mode_fpn", [True, False])
def test_what_is_found_has_masks_where_the_mode_has(
    tiny: Any, mode_fpn: bool, mode_mask: bool
) -> None:
    changes = {"mode_fpn": mode_fpn, "mode_mask": mode_mask, "score_threshold": 0}
    model = build(tiny(resnet_arch="resnet18", **changes)).eval()
    with torch.inference_mode():
        (found,) = model(pictures(1), [SIZE])
    assert 0 < len(found["scores"]) <= 10
    assert ("masks" in found) == mode_mask
    assert any(name.startswith("roi_heads.mask") for name in model.state_dict()) == mode_mask
    if mode_mask:
        side = 28 if mode_fpn else 14
        assert found["masks"].shape == (len(found["scores"]), 1, side, side)


def test_one_level_of_stride_16_has_all_sizes_and_proportions_at_each_place(tiny: Any) -> None:
    model = build(tiny(**C4, anchor_sizes=[16, 32, 64, 128, 256], anchor_aspect_ratios=[0.5, 1, 2]))
    features = model.backbone(torch.zeros(1, 3, 64, 96))
    assert {name: tuple(level.shape) for name, level in features.items()} == {"0": (1, 256, 4, 6)}
    logits, deltas = model.rpn.head(list(features.values()))
    assert (logits[0].shape, deltas[0].shape) == ((1, 15, 4, 6), (1, 60, 4, 6))


@pytest.mark.parametrize(
    ("layers", "trained"), [(None, 5), (3, 3), (1, 1), (0, 0)], ids=["all", "3", "head", "none"]
)
def test_the_fifth_stage_counts_as_the_top_of_the_backbone(
    tiny: Any, layers: int | None, trained: int
) -> None:
    model = build(tiny(**C4, trainable_backbone_layers=layers))
    body, head = model.backbone.body, model.roi_heads.box_head
    stages = [body["conv1"], body["layer1"], body["layer2"], body["layer3"], head.layer4]  # type: ignore[index]
    found = [any(p.requires_grad for p in stage.parameters()) for stage in stages]
    assert found == [False] * (5 - trained) + [True] * trained


def test_boxes_and_masks_share_the_fifth_stage(tiny: Any) -> None:
    """Its weights are there once, and both losses change them."""
    model = build(tiny(**C4))
    names = [name for name in model.state_dict() if name.endswith("layer4.1.conv2.weight")]
    assert names == ["roi_heads.box_head.layer4.1.conv2.weight"]
    weight = model.roi_heads.box_head.layer4[1].conv2.weight
    ratios = model(pictures(1), [SIZE], [target(objects=2)])
    for name in ("fastrcnn_losses/label_loss", "maskrcnn_loss/maskrcnn_loss"):
        (gradient,) = torch.autograd.grad(ratios[name].sum, weight, retain_graph=True)
        assert gradient.abs().max() > 0
