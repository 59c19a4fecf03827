"""What is worked out of the trainer's memory, against what torch keeps in real forward passes."""

from __future__ import annotations

from typing import Any

import pytest

from tests.training.preflight.job.saved_tensors import new_model, saved_of
from training.instances import T4, V100
from training.maskrcnn.hyperparameters import Hyperparameters, read_hyperparameters
from training.maskrcnn.model.backbone import build_body, trainable_stages
from training.preflight.job.batch import BatchFitsOnTheGpu
from training.preflight.job.trainer_memory import BACKBONES, TrainerMemory, trainer_memory

TOLERANCE = 0.02
"""Of what is kept of the picture: indices of the top level's pooling are left out."""


def settings(side: int = 256, **changes: Any) -> Hyperparameters:
    values = {
        "precision": "fp32",
        "image_short_sides": [side],
        "image_max_side": side,
        **changes,
    }
    return read_hyperparameters(values, source="test")


def memory_of(own: Hyperparameters) -> TrainerMemory:
    found = trainer_memory(own)
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("side", "changes"),
    [
        (256, {}),
        (384, {}),
        (256, {"trainable_backbone_layers": 5, "fpn_channels": 128}),
        (256, {"batch_norm": "GN", "backbone_weights": None, "trainable_backbone_layers": 3}),
        (256, {"batch_norm": "None", "trainable_backbone_layers": 4, "resnet_arch": "resnet18"}),
        (256, {"resnet_arch": "resnet101"}),
    ],
)
def test_what_is_kept_is_what_torch_saves(side: int, changes: dict[str, Any]) -> None:
    own = settings(side, **changes)
    saved, worked_out = saved_of(new_model(own), own), memory_of(own)
    assert worked_out.smallest_picture == pytest.approx(saved.of_features, rel=TOLERANCE)
    # Folded weights, which are kept too, are as large as their gradients.
    assert saved.total <= worked_out.largest_picture + worked_out.gradients


def test_in_mixed_precision_it_is_no_more_than_torch_saves() -> None:
    own = settings(precision="bf16")
    saved = saved_of(new_model(own), own).of_features
    assert memory_of(own).smallest_picture <= saved * (1 + TOLERANCE)
    assert memory_of(own).smallest_picture * 2 == memory_of(settings()).smallest_picture


@pytest.mark.parametrize("arch", BACKBONES)
def test_weights_are_the_models(arch: str) -> None:
    for stages in range(6):
        own = settings(resnet_arch=arch, trainable_backbone_layers=stages)
        body = build_body(own, lambda tensor: tensor)
        kept = [
            parameter
            for name, parameter in body.network.named_parameters()
            if not name.startswith("fc.")  # The classifier, which is no part of a detector.
        ]
        backbone = BACKBONES[arch]
        assert sum(each.numel() for each in kept) == backbone.weights
        trained = sum(each.numel() for each in kept if each.requires_grad)
        assert trained == backbone.trained[stages]
        assert body.channels == backbone.channels


def test_the_whole_models_weights_are_counted_but_for_the_last_layers() -> None:
    own = settings()
    weights = sum(each.numel() for each in new_model(own).parameters() if each.requires_grad)
    assert memory_of(own).gradients == pytest.approx(4 * weights, rel=0.02)
    assert memory_of(own).gradients <= 4 * weights


@pytest.mark.parametrize(
    "changes", [{}, {"backbone_weights": None}, {"trainable_backbone_layers": 1}]
)
def test_stages_are_counted_as_the_trainer_does(changes: dict[str, Any]) -> None:
    own = settings(**changes)
    told = settings(**{**changes, "trainable_backbone_layers": trainable_stages(own)})
    assert memory_of(own) == memory_of(told)


@pytest.mark.parametrize(
    "changes",
    [
        {"resnet_arch": "mobilenet"},
        {"mode_fpn": False, "batch_norm": "FreezeBN"},
        {"compile": True},
    ],
)
def test_what_was_not_measured_is_not_worked_out(changes: dict[str, Any]) -> None:
    assert trainer_memory(settings(**changes)) is None


def test_a_batch_is_judged_by_the_smallest_and_by_the_largest_pictures() -> None:
    memory = TrainerMemory(
        fixed=2**30, gradients=2**30, smallest_picture=2**30, largest_picture=2 * 2**30
    )
    codes = {
        batch: [found.code for found in BatchFitsOnTheGpu(memory, batch, T4).find()]
        for batch in (7, 8, 15, 16)
    }
    assert codes == {
        7: [],
        8: ["batch-near-gpu-memory"],
        15: ["batch-near-gpu-memory"],
        16: ["batch-over-gpu-memory"],
    }


def test_the_message_has_both_sizes_and_a_batch_that_fits() -> None:
    memory = memory_of(settings(800, image_max_side=1333))
    (finding,) = BatchFitsOnTheGpu(memory, 200, V100).find()
    assert finding.severity == "error"
    assert "a V100 has 16.0 GiB" in finding.message
    fitting = memory.batch_for(16 * 2**30)
    assert 1 < fitting < 40
    assert f"Take {fitting} or fewer" in finding.message
    assert list(BatchFitsOnTheGpu(memory, fitting, V100).find()) == []
    (near,) = BatchFitsOnTheGpu(memory, fitting + 1, V100).find()
    assert near.severity == "warning"
