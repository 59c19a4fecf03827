from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
import torch

from training.maskrcnn.data.batch import Target
from training.maskrcnn.data.mask_crops import MaskCrops
from training.maskrcnn.model.losses import LOSSES, NAMES, loss_names
from training.maskrcnn.model.maskrcnn import MaskRCNN, build_model

SIZE = (64, 48)


def target(*, objects: int = 0, crowds: int = 0) -> Target:
    masks = torch.zeros((objects, *SIZE), dtype=torch.uint8)
    masks[:, 10:30, 8:28] = 1
    return Target(
        boxes=torch.tensor([[8.0, 10, 28, 30]] * objects).reshape(-1, 4),
        labels=torch.ones(objects, dtype=torch.int64),
        masks=MaskCrops.cut(masks),
        crowds=torch.tensor([[0.0, 0, 48, 64]] * crowds).reshape(-1, 4),
        seed=3,
    )


def pictures(number: int) -> torch.Tensor:
    generator = torch.Generator().manual_seed(1)
    return torch.randint(0, 255, (number, 3, 64, 64), generator=generator, dtype=torch.uint8)


def build(hyperparameters: Any) -> MaskRCNN:
    torch.manual_seed(0)
    return build_model(hyperparameters, categories=3, sum_over_ranks=lambda tensor: tensor)


@pytest.mark.parametrize(
    "targets",
    [
        [target(objects=1), target(objects=3, crowds=1)],
        [target(), target()],
        [target(crowds=1), target(crowds=1)],
        [target(), target(objects=1)],
    ],
    ids=["objects", "empty", "crowds only", "one empty"],
)
@pytest.mark.parametrize("batch_norm", ["FreezeBN", "GN"])
def test_any_picture_gives_finite_losses_and_a_gradient_for_every_parameter(
    tiny: Any, batch_norm: str, targets: list[Target]
) -> None:
    model = build(tiny(batch_norm=batch_norm))
    ratios = model(pictures(2), [SIZE, SIZE], targets)
    assert set(ratios) == set(NAMES)
    loss = torch.stack([ratios[name].sum / max(ratios[name].count, 1) for name in LOSSES]).sum()
    assert torch.isfinite(loss)
    loss.backward()
    for name, parameter in model.named_parameters():
        assert parameter.grad is not None, name
        assert torch.isfinite(parameter.grad).all(), name


@pytest.mark.parametrize(
    "targets",
    [[target(objects=1), target(objects=3, crowds=1)], [target(), target()]],
    ids=["objects", "empty"],
)
@pytest.mark.parametrize("mode_fpn", [True, False])
@pytest.mark.parametrize("mode_mask", [True, False])
def test_counts_are_told_before_the_heads_compute_and_are_those_of_the_losses(
    tiny: Any, mode_fpn: bool, mode_mask: bool, targets: list[Target]
) -> None:
    arch = "mobilenet" if mode_fpn else "resnet18"
    model = build(tiny(mode_fpn=mode_fpn, mode_mask=mode_mask, resnet_arch=arch))
    events: list[str] = []
    told: dict[str, float] = {}

    def tell(counts: Mapping[str, float]) -> None:
        events.append("counts")
        told.update(counts)

    model.roi_heads.box_roi_pool.register_forward_hook(lambda *_: events.append("heads"))
    ratios = model(pictures(2), [SIZE, SIZE], targets, tell)
    assert told == {name: ratios[name].count for name in loss_names(mode_mask)}
    assert all(type(count) is float for count in told.values()), "the device is not asked"
    assert events == ["counts", "heads"]


def test_crowd_only_pictures_teach_no_background_inside_the_crowd(tiny: Any) -> None:
    model = build(tiny())
    ratios = model(pictures(1), [SIZE], [target(crowds=1)])
    empty = model(pictures(1), [SIZE], [target()])
    assert ratios["fastrcnn_losses/label_loss"].count < empty["fastrcnn_losses/label_loss"].count


@pytest.mark.parametrize("arch", ["mobilenet", "resnet18", "resnet50"])
@pytest.mark.parametrize("batch_norm", ["FreezeBN", "SyncBN", "GN", "None"])
def test_every_backbone_and_norm_detects(tiny: Any, arch: str, batch_norm: str) -> None:
    model = build(tiny(resnet_arch=arch, batch_norm=batch_norm, score_threshold=0)).eval()
    with torch.inference_mode():
        (found,) = model(pictures(1), [SIZE])
    count = len(found["scores"])
    assert 0 < count <= 10
    assert found["boxes"].shape == (count, 4)
    assert found["masks"].shape == (count, 1, 28, 28)
    assert set(found["labels"].tolist()) <= {1, 2, 3}


def test_bf16_predicts_boxes_and_masks_in_fp32(tiny: Any) -> None:
    model = build(tiny(score_threshold=0)).eval()
    with torch.inference_mode(), torch.autocast("cpu", torch.bfloat16):
        (found,) = model(pictures(1), [SIZE])
    assert {found[name].dtype for name in ("boxes", "scores", "masks")} == {torch.float32}


def test_padding_does_not_change_what_is_detected(tiny: Any) -> None:
    model = build(tiny(score_threshold=0)).eval()
    padded = pictures(1)
    padded[:, :, :, 48:] = 200
    with torch.inference_mode():
        (clean,), (dirty,) = model(pictures(1), [SIZE]), model(padded, [SIZE])
    assert torch.equal(clean["scores"], dirty["scores"])


@pytest.mark.parametrize(
    ("weights", "layers", "trained"),
    [(None, None, 5), ("torchvision", None, 3), ("torchvision", 5, 5), (None, 0, 0)],
)
def test_lower_stages_are_frozen_with_weights_given(
    tiny: Any, weights: str | None, layers: int | None, trained: int
) -> None:
    model = build(
        tiny(
            resnet_arch="resnet18",
            backbone_weights=weights,
            trainable_backbone_layers=layers,
        )
    )
    stages = ["conv1", "layer1", "layer2", "layer3", "layer4"]
    found = [
        any(p.requires_grad for p in model.backbone.body[stage].parameters())  # type: ignore[index, union-attr]
        for stage in stages
    ]
    assert found == [False] * (5 - trained) + [True] * trained


def test_compiled_layers_give_the_same_losses_and_gradients_under_the_same_names(
    tiny: Any,
) -> None:
    plain, compiled = build(tiny(resnet_arch="resnet18")), build(tiny(resnet_arch="resnet18"))
    # Without a code generator: what is traced, and that all of it can be, is what matters.
    compiled.compile_layers(backend="aot_eager", fullgraph=True)
    assert list(plain.state_dict()) == list(compiled.state_dict())
    sums = []
    for model in (plain, compiled):
        ratios = model(pictures(1), [SIZE], [target(objects=1)])
        sums.append(torch.stack([ratios[name].sum for name in LOSSES]))
        sums[-1].sum().backward()
    torch.testing.assert_close(sums[1], sums[0], rtol=1e-4, atol=1e-4)
    for (name, one), other in zip(plain.named_parameters(), compiled.parameters(), strict=True):
        error = (one.grad - other.grad).norm() / one.grad.norm().clamp(min=1e-6)
        assert error < 1e-3, name
