"""TensorPack's weights: its network, computed plainly, against ours with what was converted."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from tests.training.maskrcnn.model.tensorpack_graph import (
    Arrays,
    Graph,
    RandomArrays,
    c4_arrays,
    fpn_arrays,
)
from training.errors import JobFailed
from training.layout import TrainChannel
from training.maskrcnn.model.maskrcnn import MaskRCNN, build_model
from training.maskrcnn.model.weights import load_initial_weights

Size = tuple[int, int]
ODD, EVEN = (90, 120), (96, 128)
"""TensorPack pads pictures to multiples of 32, but not for C4, whose borders then differ."""
TOP, RESULTS, CATEGORIES = 16, 30, 5
NAMES = {"anchor_sizes": [32, 64, 128, 256, 512], "anchor_aspect_ratios": [0.5, 1.0, 2.0]}


@pytest.fixture
def channel(tmp_path: Path) -> TrainChannel:
    channel = TrainChannel(tmp_path)
    channel.pretrained_models.mkdir()
    return channel


def save(channel: TrainChannel, arrays: Arrays, name: str = "ImageNet-R50-AlignPadding.npz") -> str:
    np.savez(channel.pretrained_models / name, **arrays)  # type: ignore[arg-type]
    return name


def load(channel: TrainChannel, hyperparameters: Any) -> tuple[MaskRCNN, list[str]]:
    torch.manual_seed(0)
    model = build_model(
        hyperparameters, categories=CATEGORIES, sum_over_ranks=lambda tensor: tensor
    )
    notes = load_initial_weights(model, hyperparameters, channel)
    return model.eval(), notes


def picture(size: Size) -> torch.Tensor:
    """Return (H, W, 3) blue, green, red, with large and small structures."""
    random = np.random.default_rng(3)
    coarse = np.kron(random.integers(0, 200, (10, 13, 3)), np.ones((10, 10, 1)))
    fine = random.integers(0, 55, (*size, 3))
    return torch.from_numpy((coarse[: size[0], : size[1]] + fine).astype(np.uint8))


def as_batch(pixels: torch.Tensor) -> torch.Tensor:
    """Return the same picture as our loader gives it: (1, 3, H, W) RGB, padded."""
    rgb = pixels.flip(2).permute(2, 0, 1)
    return torch.nn.functional.pad(rgb, (0, -rgb.shape[2] % 32, 0, -rgb.shape[1] % 32))[None]


def assert_same(ours: torch.Tensor, theirs: torch.Tensor) -> None:
    """Equal to 1e-4 of the largest value."""
    torch.testing.assert_close(ours, theirs, rtol=0, atol=1e-4 * float(theirs.abs().max()))


@pytest.mark.parametrize("norm", ["bn", "gn"])
@torch.inference_mode()
def test_a_backbone_computes_what_it_did_in_tensorpack(
    channel: TrainChannel, tiny: Any, norm: str
) -> None:
    made = RandomArrays(seed=1)
    made.resnet(norm=norm)
    others = {"linear/W": np.zeros((2048, 10)), "conv0/W/Momentum:0": np.zeros((7, 7, 3, 64))}
    name = save(channel, {**made.arrays, **others})
    model, notes = load(
        channel,
        tiny(
            resnet_arch="resnet50",
            backbone_weights=name,
            batch_norm="FreezeBN" if norm == "bn" else "GN",
        ),
    )
    assert notes == []
    images = model._normalize(as_batch(picture(ODD)), [ODD])
    ours = model.backbone.body(images)  # type: ignore[operator]
    graph = Graph(made.arrays, has_pyramid=True, top=TOP, results=RESULTS)
    theirs = graph.backbone(graph.picture(picture(ODD)))
    assert len(theirs) == 4
    for own, other in zip(ours.values(), theirs, strict=True):
        assert_same(own, other)


@pytest.mark.parametrize(("mode_fpn", "size"), [(True, ODD), (False, EVEN)])
@torch.inference_mode()
def test_a_whole_model_detects_what_it_did_in_tensorpack(
    channel: TrainChannel, tiny: Any, mode_fpn: bool, size: Size
) -> None:
    arrays = (
        fpn_arrays(categories=CATEGORIES, width=32, hidden=64, seed=2)
        if mode_fpn
        else c4_arrays(categories=CATEGORIES, width=32, seed=2)
    )
    hyperparameters = tiny(
        **NAMES,
        mode_fpn=mode_fpn,
        exact_geometry=True,
        resnet_arch="resnet50",
        load_model=save(channel, arrays, "COCO-MaskRCNN.npz"),
        fpn_channels=32,
        box_head_channels=64,
        mask_head_channels=32,
        mask_head_layers=4,
        rpn_pre_nms_test=TOP,
        rpn_post_nms_test=TOP,
        detections_per_image=RESULTS,
    )
    model, notes = load(channel, hyperparameters)
    assert notes == []
    (ours,) = model(as_batch(picture(size)), [size])
    graph = Graph(arrays, has_pyramid=mode_fpn, top=TOP, results=RESULTS)
    theirs = graph.detect(picture(size))
    assert len(theirs["scores"]) > 5
    assert ours["labels"].tolist() == theirs["labels"].tolist()
    assert len(set(theirs["labels"].tolist())) > 1
    assert_same(ours["scores"], theirs["scores"])
    assert_same(ours["boxes"], theirs["boxes"])
    assert_same(ours["masks"][:, 0], theirs["masks"])


def test_only_its_backbone_is_taken_of_a_whole_model_given_as_backbone_weights(
    channel: TrainChannel, tiny: Any
) -> None:
    arrays = c4_arrays(categories=CATEGORIES, width=8, seed=2)
    name = save(channel, {f"{name}:0": array for name, array in arrays.items()}, "COCO-R50C41x.npz")
    model, notes = load(channel, tiny(resnet_arch="resnet50", backbone_weights=name))
    assert "those with AlignPadding in their name" in notes[0]
    own = model.state_dict()
    kernel = torch.from_numpy(arrays["group3/block0/convshortcut/W"])[0, 0].T
    assert torch.equal(own["backbone.body.layer4.0.downsample.0.weight"][..., 0, 0], kernel)


def test_a_model_for_other_categories_lends_all_but_its_outputs(
    channel: TrainChannel, tiny: Any
) -> None:
    arrays = fpn_arrays(categories=CATEGORIES + 1, width=16, hidden=32, seed=2)
    changes = {"mask_head_layers": 4, "anchor_aspect_ratios": [0.5, 1, 2]}
    name = save(channel, arrays, "COCO.npz")
    model, notes = load(channel, tiny(resnet_arch="resnet50", load_model=name, **changes))
    assert "begun anew for other categories: roi_heads.box_predictor.cls_score.weight" in notes[0]
    assert "exact_geometry True" in notes[1]
    fc7 = torch.from_numpy(arrays["fastrcnn/fc7/W"]).T
    assert torch.equal(model.state_dict()["roi_heads.box_head.fc7.weight"], fc7)


CONV0 = {"conv0/W": np.zeros((7, 7, 3, 64), np.float32)}


@pytest.mark.parametrize(
    ("changes", "arrays", "message"),
    [
        ({}, {"x/W": np.zeros(3)}, "no weights of a ResNet as TensorPack names"),
        ({}, CONV0, "weights are missing"),
        ({}, {**CONV0, "conv0/gn/gamma": np.zeros(64)}, "does not fit resnet_arch and batch_norm"),
        ({}, {"conv0/scale": np.zeros(3)}, "1 of its weights have no place"),
        ({"load_model": True}, CONV0, "give it as backbone_weights"),
        (
            {"load_model": True},
            {**CONV0, "rpn/box/b": np.zeros(60)},
            "is a model with mode_fpn False; set it so",
        ),
        (
            {"load_model": True, "mode_fpn": False},
            {**CONV0, "cascade_rcnn_stage1/head/fc6/b": np.zeros(9)},
            "Cascades, and group norm in pyramid and heads, cannot be taken over",
        ),
        (
            {"load_model": True, "mode_fpn": False},
            {**CONV0, "rpn/class/b": np.zeros(15)},
            "belongs to another model",
        ),
    ],
)
def test_a_file_of_another_network_is_refused(
    channel: TrainChannel, tiny: Any, changes: dict[str, Any], arrays: Arrays, message: str
) -> None:
    key = "load_model" if "load_model" in changes else "backbone_weights"
    hyperparameters = tiny(resnet_arch="resnet50", **{**changes, key: save(channel, arrays)})
    with pytest.raises(JobFailed, match=message):
        load(channel, hyperparameters)
