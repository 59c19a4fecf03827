from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
import torch

from training.layout import TrainChannel
from training.maskrcnn.broken_batch import BrokenBatch
from training.maskrcnn.data.collection import read_collection
from training.maskrcnn.data.loader import load_batches
from training.maskrcnn.model.maskrcnn import build_model
from training.maskrcnn.suspects import Report, find_suspects


@pytest.fixture
def sound(shapes: TrainChannel, tiny: Any) -> BrokenBatch:
    hyperparameters = tiny()
    data = read_collection(shapes, hyperparameters)
    batch = next(
        load_batches(data.train, hyperparameters, rank=0, size=1, local_size=1, position=0)
    )
    torch.manual_seed(0)
    model = build_model(hyperparameters, categories=4, sum_over_ranks=lambda tensor: tensor)
    return BrokenBatch(
        batches=(batch,),
        weights=model.state_dict(),
        hyperparameters=hyperparameters,
        counts={},
        problem="why",
    )


def look(broken: BrokenBatch) -> Report:
    return find_suspects(broken, torch.device("cpu"), torch.float32)


def test_a_sound_batch_is_finite_and_the_verdict_looks_elsewhere(sound: BrokenBatch) -> None:
    report = look(sound)
    assert [trial.is_finite for trial in (*report.together, *report.pictures)] == [True] * 5
    assert report.verdict.startswith("All is finite here")
    assert all(isinstance(loss, float) for loss in report.together[0].losses.values())


def test_the_picture_with_a_bad_box_is_named_with_its_loss_and_operation(
    sound: BrokenBatch,
) -> None:
    (batch,) = sound.batches
    bad = batch.targets[2]
    boxes = bad.boxes.clone()
    boxes[0, 2] = float("nan")
    targets = (*batch.targets[:2], replace(bad, boxes=boxes), *batch.targets[3:])
    report = look(replace(sound, batches=(replace(batch, targets=targets),)))
    assert [trial.is_finite for trial in report.pictures] == [True, True, False, True]
    (together,) = report.together
    assert not together.is_finite
    suspect = report.pictures[2]
    assert suspect.name == f"image {batch.names[2]}"
    assert "nan" in suspect.losses.values()
    assert suspect.smallest_side == "nan"
    assert suspect.operation is not None
    assert "model/losses.py" in suspect.operation
    assert batch.names[2] in report.verdict
    assert batch.names[1] not in report.verdict
    assert report.verdict.startswith("Not finite on their own, 1 of 4 pictures: ")
    assert report.verdict.endswith("Look at their annotations.")


def test_where_each_picture_fails_weights_and_rate_are_named_not_annotations(
    sound: BrokenBatch,
) -> None:
    (batch,) = sound.batches
    nothing = torch.full_like(batch.pixels, float("nan"), dtype=torch.float32)
    report = look(replace(sound, batches=(replace(batch, pixels=nothing),)))
    assert [trial.is_finite for trial in report.pictures] == [False] * 4
    assert report.verdict.startswith(
        "Each of the 4 pictures fails on its own: weights and learning rate are the cause"
    )
    assert "lower base_learning_rate" in report.verdict


def test_weights_that_grew_huge_are_the_cause_where_something_fails(sound: BrokenBatch) -> None:
    name = "roi_heads.mask_head.0.0.weight"
    weights = {**sound.weights, name: sound.weights[name].clone()}
    weights[name][:] = -3e38
    weights[name][1] = 3e38
    report = look(replace(sound, weights=weights))
    assert report.largest_weight == pytest.approx(3e38)
    assert report.largest_weight_in == name
    assert report.verdict.startswith("The weights are the cause, not the annotations: they had gr")
    weights[name] = sound.weights[name].clone()
    weights[name][1, 2] = -999
    report = look(replace(sound, weights=weights))
    assert report.largest_weight == 999
    assert report.verdict.startswith("All is finite here")


def test_weights_that_were_broken_before_are_named_with_the_layer(sound: BrokenBatch) -> None:
    name = "roi_heads.mask_head.0.0.weight"
    weights = {**sound.weights, name: torch.full_like(sound.weights[name], float("inf"))}
    report = look(replace(sound, weights=weights))
    assert report.weights == (name,)
    assert report.together[0].layer == "roi_heads.mask_head.0.0"
    assert report.verdict.startswith("The weights were not finite before the step")


def test_losses_are_divided_as_they_were_in_the_step(sound: BrokenBatch) -> None:
    name = "rpn_losses/label_loss"
    own = look(sound).together[0].losses[name]
    shared = look(replace(sound, counts={name: 3 * 128.0})).together[0].losses[name]
    assert isinstance(own, float)
    assert shared == pytest.approx(own / 3, rel=1e-4)
