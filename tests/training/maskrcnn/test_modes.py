"""Runs of the trainer in each mode: what is trained, what is measured, what comes back."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch

from training.layout import TrainChannel
from training.maskrcnn.data.batch import collate
from training.maskrcnn.data.collection import read_collection
from training.maskrcnn.data.dataset import TrainingPictures
from training.maskrcnn.data.sampler import Draw
from training.maskrcnn.model.losses import LOSSES
from training.maskrcnn.model.maskrcnn import build_model
from training.maskrcnn.model_file import load_model

SMALL = {
    "resnet_arch": "resnet18",
    "batch_norm": "GN",
    "roi_batch_per_image": 4,
    "rpn_post_nms_test": 5,
    "detections_per_image": 3,
    "batch_size_per_gpu": 2,
    "images_per_epoch": 6,
    "optimizer": "adamw",
    "base_learning_rate": 0.001,
}


@pytest.mark.parametrize(
    "mode",
    [
        {"mode_fpn": False},
        {"mode_fpn": False, "mode_mask": False},
        {"mode_mask": False},
    ],
    ids=["C4", "C4, boxes only", "boxes only"],
)
def test_a_mode_trains_evaluates_and_comes_back_from_its_model_file(
    shapes: TrainChannel,
    tiny: Any,
    tmp_path: Path,
    train_in_process: Callable[..., Any],
    mode: dict[str, bool],
) -> None:
    hyperparameters = tiny(**SMALL, **mode)
    mode_mask = hyperparameters.mode_mask
    run = train_in_process(shapes, tmp_path, hyperparameters)
    assert run.ending == "completed"
    *steps, evaluation = run.lines()
    assert len(steps) == 3
    for line in steps:
        values = line["values"]
        assert {name for name in LOSSES if name in values} == {
            name for name in LOSSES if mode_mask or not name.startswith("maskrcnn")
        }
        assert 0 < values["total_loss"] < 100
        assert any(name.startswith("maskrcnn_loss") for name in values) == mode_mask
    kinds = {name[: name.index("/")] for name in evaluation["values"] if name.startswith("mAP")}
    assert kinds == ({"mAP(bbox)", "mAP(segm)"} if mode_mask else {"mAP(bbox)"})
    trained = load_model(run.channel.model, torch.device("cpu"))
    assert trained.hyperparameters == hyperparameters
    torch.manual_seed(hyperparameters.seed)
    fresh = build_model(
        hyperparameters,
        categories=len(trained.categories),
        sum_over_ranks=lambda tensor: tensor,
    )
    for (name, weight), begun in zip(
        trained.model.named_parameters(), fresh.parameters(), strict=True
    ):
        assert torch.equal(weight, run.weights()[name]), name
        assert not torch.equal(weight, begun), name


def test_a_model_without_a_pyramid_learns_two_pictures_by_heart(
    shapes: TrainChannel, tiny: Any
) -> None:
    hyperparameters = tiny(**SMALL, mode_fpn=False, flip_probability=0)
    torch.manual_seed(0)
    model = build_model(hyperparameters, categories=4, sum_over_ranks=lambda tensor: tensor)
    records = read_collection(shapes, hyperparameters).train
    pictures = TrainingPictures(records, hyperparameters)
    batch = collate([pictures[Draw(record=index, data_pass=0)] for index in (0, 1)])
    optimizer = torch.optim.AdamW(model.parameters(), 1e-3)
    course: dict[str, list[float]] = {name: [] for name in LOSSES}
    for _ in range(12):
        ratios = model(batch.pixels, batch.sizes, batch.targets)
        means = {name: ratios[name].sum / max(ratios[name].count, 1) for name in LOSSES}
        for name, mean in means.items():
            course[name].append(float(mean.detach()))
        optimizer.zero_grad()
        torch.stack(list(means.values())).sum().backward()
        optimizer.step()
    for name in ("rpn_losses/label_loss", "fastrcnn_losses/label_loss", LOSSES[-1]):
        assert sum(course[name][-3:]) < 0.6 * sum(course[name][:3]), (name, course[name])
