from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch
from torchvision.models import mobilenet_v3_small, resnet18

from training.errors import JobFailed
from training.layout import TrainChannel
from training.maskrcnn.checkpoint import CheckpointFolder
from training.maskrcnn.model.maskrcnn import MaskRCNN, build_model
from training.maskrcnn.model.weights import load_initial_weights


def build(hyperparameters: Any, *, categories: int = 3, seed: int = 0) -> MaskRCNN:
    torch.manual_seed(seed)
    return build_model(hyperparameters, categories=categories, sum_over_ranks=lambda tensor: tensor)


@pytest.fixture
def channel(tmp_path: Path) -> TrainChannel:
    channel = TrainChannel(tmp_path)
    channel.pretrained_models.mkdir()
    return channel


@pytest.mark.parametrize("batch_norm", ["FreezeBN", "None"])
@pytest.mark.parametrize("arch", ["resnet18", "mobilenet"])
def test_backbone_weights_are_those_of_the_file(
    channel: TrainChannel, tiny: Any, arch: str, batch_norm: str
) -> None:
    make, name = {
        "resnet18": (resnet18, "layer3.1.conv2.weight"),
        "mobilenet": (mobilenet_v3_small, "features.8.block.0.0.weight"),
    }[arch]
    state = make().state_dict()
    torch.save(state, channel.pretrained_models / "backbone.pth")
    hyperparameters = tiny(resnet_arch=arch, backbone_weights="backbone.pth", batch_norm=batch_norm)
    model = build(hyperparameters)
    assert load_initial_weights(model, hyperparameters, channel) == []
    body = model.backbone.body.state_dict()  # type: ignore[union-attr, operator]
    assert torch.equal(body[name.removeprefix("features.")], state[name])


def test_without_a_pyramid_the_fifth_stage_of_a_backbone_goes_to_the_head(
    channel: TrainChannel, tiny: Any
) -> None:
    state = resnet18().state_dict()
    torch.save(state, channel.pretrained_models / "r18.pth")
    hyperparameters = tiny(resnet_arch="resnet18", mode_fpn=False, backbone_weights="r18.pth")
    model = build(hyperparameters)
    assert load_initial_weights(model, hyperparameters, channel) == []
    own = model.state_dict()
    for name, place in (("layer3.1", "backbone.body."), ("layer4.1", "roi_heads.box_head.")):
        weight = f"{name}.conv2.weight"
        assert torch.equal(own[f"{place}{weight}"], state[weight])
    del state["layer4.1.conv2.weight"]
    torch.save(state, channel.pretrained_models / "r18.pth")
    with pytest.raises(JobFailed, match=r"1 weights are missing \(roi_heads\.box_head\.layer4"):
        load_initial_weights(model, hyperparameters, channel)


def test_another_backbones_weights_are_refused(channel: TrainChannel, tiny: Any) -> None:
    torch.save(resnet18().state_dict(), channel.pretrained_models / "r18.pth")
    hyperparameters = tiny(backbone_weights="r18.pth")
    with pytest.raises(JobFailed, match="does not fit resnet_arch"):
        load_initial_weights(build(hyperparameters), hyperparameters, channel)


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("absent.pth", None, "there is no file .*pretrained-models/absent.pth or absent.pth$"),
        ("broken.pth", b"oops", "cannot be read as weights"),
        ("ImageNet-R50.npz", b"PK", "cannot be read as weights"),
    ],
)
def test_unusable_weights_are_named(
    channel: TrainChannel, tiny: Any, name: str, content: bytes | None, message: str
) -> None:
    if content is not None:
        (channel.pretrained_models / name).write_bytes(content)
    hyperparameters = tiny(backbone_weights=name)
    with pytest.raises(JobFailed, match=message) as failed:
        load_initial_weights(build(hyperparameters), hyperparameters, channel)
    assert name in str(failed.value)


@pytest.mark.parametrize("key", ["backbone_weights", "load_model"])
def test_a_file_with_something_else_than_weights_is_refused(
    channel: TrainChannel, tiny: Any, key: str
) -> None:
    torch.save([torch.zeros(2)], channel.pretrained_models / "list.pt")
    hyperparameters = tiny(**{key: "list.pt"})
    with pytest.raises(JobFailed, match=r"list\.pt: holds a list, not weights by name"):
        load_initial_weights(build(hyperparameters), hyperparameters, channel)


def test_a_model_for_other_categories_lends_all_but_its_outputs(
    channel: TrainChannel, tiny: Any
) -> None:
    source = build(tiny(), categories=8, seed=1)
    torch.save({"model": source.state_dict()}, channel.pretrained_models / "model.pt")
    hyperparameters = tiny(load_model="model.pt")
    model = build(hyperparameters)
    fresh = model.roi_heads.box_predictor.cls_score.weight.clone()
    (note,) = load_initial_weights(model, hyperparameters, channel)
    assert "box_predictor.cls_score.weight" in note
    assert torch.equal(model.roi_heads.box_predictor.cls_score.weight, fresh)
    assert torch.equal(model.roi_heads.box_head.fc6.weight, source.roi_heads.box_head.fc6.weight)


@pytest.mark.parametrize("has_average", [True, False])
def test_of_a_checkpoint_the_averaged_weights_are_taken_where_there_are_any(
    channel: TrainChannel, tiny: Any, has_average: bool
) -> None:
    source = build(tiny(), seed=1)
    name = "roi_heads.box_head.fc6.weight"
    average = {"steps": 9, "weights": {name: torch.full_like(source.state_dict()[name], 7)}}
    state = {
        "model": source.state_dict(),
        "stepper": {"optimizer": {}, "average": average if has_average else {}},
        "position": {"step": 9},
    }
    CheckpointFolder(channel.root / "checkpoints", keep=1).save(state, step=9)
    file = channel.root / "checkpoints" / "step-00000009.pt"
    hyperparameters = tiny(load_model=str(file))
    model = build(hyperparameters)
    assert load_initial_weights(model, hyperparameters, channel) == []
    own, theirs = model.state_dict(), source.state_dict()
    assert torch.equal(own[name], average["weights"][name] if has_average else theirs[name])
    assert torch.equal(own["rpn.head.cls_logits.weight"], theirs["rpn.head.cls_logits.weight"])


@pytest.mark.parametrize("mode_mask", [True, False])
def test_a_model_with_masks_and_one_without_lend_each_other_the_rest(
    channel: TrainChannel, tiny: Any, mode_mask: bool
) -> None:
    source = build(tiny(mode_mask=not mode_mask), seed=1)
    torch.save({"model": source.state_dict()}, channel.pretrained_models / "model.pt")
    hyperparameters = tiny(load_model="model.pt", mode_mask=mode_mask)
    model = build(hyperparameters)
    (note,) = load_initial_weights(model, hyperparameters, channel)
    assert ("masks are begun anew" if mode_mask else "its mask branch is left out") in note
    assert torch.equal(
        model.roi_heads.box_predictor.cls_score.weight,
        source.roi_heads.box_predictor.cls_score.weight,
    )


def test_a_model_of_another_shape_is_refused(channel: TrainChannel, tiny: Any) -> None:
    source = build(tiny(fpn_channels=24))
    torch.save({"model": source.state_dict()}, channel.pretrained_models / "model.pt")
    hyperparameters = tiny(load_model="model.pt")
    with pytest.raises(JobFailed) as failed:
        load_initial_weights(build(hyperparameters), hyperparameters, channel)
    message = str(failed.value)
    start = f"load_model: {channel.pretrained_models / 'model.pt'} belongs to another model: "
    assert message.startswith(start)
    assert message.count(", not ") == 3
    first = "backbone.fpn.inner_blocks.0.0.weight is 24 x "
    assert f"weights are of another shape ({first}" in message
    assert message.endswith(" …)")
    assert "\n" not in message


def test_a_missing_file_is_named_once(channel: TrainChannel, tiny: Any, tmp_path: Path) -> None:
    path = tmp_path / "none.pt"
    hyperparameters = tiny(load_model=str(path))
    with pytest.raises(JobFailed) as failed:
        load_initial_weights(build(hyperparameters), hyperparameters, channel)
    assert str(failed.value) == f"load_model: there is no file {path}"


@pytest.mark.parametrize("key", ["backbone_weights", "load_model"])
def test_weights_that_are_not_finite_are_refused(
    channel: TrainChannel, tiny: Any, key: str
) -> None:
    file = channel.pretrained_models / "weights.pt"
    hyperparameters = tiny(**{key: file.name})
    whole = key == "load_model"
    state = (build(tiny()) if whole else mobilenet_v3_small()).state_dict()
    name = "rpn.head.cls_logits.bias" if whole else "features.8.block.0.0.weight"
    state[name].view(-1)[:2] = torch.tensor([float("nan"), float("-inf")][: state[name].numel()])
    torch.save(state, file)
    with pytest.raises(JobFailed) as failed:
        load_initial_weights(build(hyperparameters), hyperparameters, channel)
    message = str(failed.value)
    place = name.replace("features.", "backbone.body.")
    bad, count = min(2, state[name].numel()), state[name].numel()
    start = f"{key}: {file}: {place} has {bad} values of {count} that are not finite"
    assert message.startswith(start)


def test_python_objects_and_other_contents_are_refused_without_torch_s_advice(
    channel: TrainChannel, tiny: Any
) -> None:
    hyperparameters = tiny(backbone_weights="other.pt")
    for content, reason in (
        (channel, "cannot be read as weights by name (it holds Python objects, which"),
        ({"epoch": 3, "state_dict": {}}, "holds epoch, state_dict, not weights by name"),
    ):
        torch.save(content, channel.pretrained_models / "other.pt")
        with pytest.raises(JobFailed) as failed:
            load_initial_weights(build(hyperparameters), hyperparameters, channel)
        message = str(failed.value)
        assert reason in message
        assert "weights_only" not in message
        assert "\n" not in message


def test_frozen_norms_without_weights_draw_a_warning(channel: TrainChannel, tiny: Any) -> None:
    (note,) = load_initial_weights(build(tiny()), tiny(), channel)
    assert "FreezeBN without backbone_weights" in note
