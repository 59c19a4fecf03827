"""What a chart hands to the job is what `training.algorithms` says."""

from __future__ import annotations

import json
from typing import Any

import pytest
from pydantic import BaseModel

from charts.make.hyperparameters import names_of
from tests.charts.rendering import TRAINING, hyperparameters, render
from training import algorithms
from training.hyperparameter_text import to_texts


def read(chart: str, texts: dict[str, str]) -> BaseModel:
    return algorithms.load(TRAINING[chart]).HYPERPARAMETERS.model_validate(texts)


@pytest.mark.parametrize("chart", TRAINING)
def test_the_defaults_of_a_chart_are_those_of_its_algorithm(chart: str) -> None:
    model = algorithms.load(TRAINING[chart]).HYPERPARAMETERS

    assert read(chart, hyperparameters(render(chart))) == model()


@pytest.mark.parametrize("chart", ["maskrcnn", "maskrcnn-optimized"])
def test_every_hyperparameter_of_the_originals_is_a_key(chart: str) -> None:
    fields = set(algorithms.load(TRAINING[chart]).HYPERPARAMETERS.model_fields) - {"config"}

    assert set(names_of(TRAINING[chart]).values()) == fields


GIVEN: list[tuple[str, dict[str, Any], dict[str, Any]]] = [
    ("maskrcnn", {"mode_mask": False}, {"mode_mask": False}),
    ("maskrcnn", {"mode_mask": "False"}, {"mode_mask": False}),
    ("maskrcnn", {"backbone_norm": "SyncBN"}, {"batch_norm": "SyncBN"}),
    ("maskrcnn", {"eval_period_in_epochs": 3}, {"eval_period": 3}),
    ("maskrcnn", {"images_per_epoch": 12_345_678}, {"images_per_epoch": 12_345_678}),
    ("maskrcnn", {"horovod_cycle_time": 0.25}, {"horovod_cycle_time": 0.25}),
    # As the old values.yaml spelled them.
    ("maskrcnn", {"lr_schedule": "[240000,320000,360000]"}, {}),
    ("maskrcnn", {"lr_schedule": [1000, 2000]}, {"lr_schedule": [1000, 2000]}),
    ("maskrcnn", {"data_train": '["coco_train2017"]', "data_val": '("coco_val2017")'}, {}),
    (
        "maskrcnn",
        {"data_train": ["coco_train2014", "coco_train2017"]},
        {"data_train": ["coco_train2014", "coco_train2017"]},
    ),
    (
        "maskrcnn",
        {"resnet_arch": "resnet101", "backbone_weights": "ImageNet-R101-AlignPadding.npz"},
        {"resnet_arch": "resnet101", "backbone_weights": "ImageNet-R101-AlignPadding.npz"},
    ),
    ("maskrcnn", {"load_model": "model.npz"}, {"load_model": "model.npz"}),
    ("maskrcnn", {"base_lr": 0.02}, {"config:TRAIN.BASE_LR": "0.02"}),
    (
        "maskrcnn-optimized",
        {"extra_config": "TRAIN.GRADIENT_CLIP=0.36"},
        {"config:TRAIN.GRADIENT_CLIP": "0.36"},
    ),
    (
        "maskrcnn-optimized",
        {"extra_config": ["RPN.ANCHOR_RATIOS=(0.5, 1., 2.)", "TEST.BOX_TARGET=0.377"]},
        {"config:RPN.ANCHOR_RATIOS": "(0.5, 1., 2.)", "config:TEST.BOX_TARGET": "0.377"},
    ),
    (
        "maskrcnn-optimized",
        {"lr_epoch_schedule": [[8, 0.1], [12, None]]},
        {"lr_epoch_schedule": [[8, 0.1], [12, None]]},
    ),
    ("maskrcnn-horovod", {"lr_schedule": "[1000, 2000]"}, {"lr_schedule": [1000, 2000]}),
    ("maskrcnn-horovod", {"precision": "fp32", "batch_size_per_gpu": 7}, None),
]


@pytest.mark.parametrize(("chart", "given", "meant"), GIVEN, ids=[str(row[1]) for row in GIVEN])
def test_a_key_becomes_the_hyperparameter_that_it_names(
    chart: str, given: dict[str, Any], meant: dict[str, Any] | None
) -> None:
    model = algorithms.load(TRAINING[chart]).HYPERPARAMETERS

    texts = hyperparameters(render(chart, {"maskrcnn": given}))

    assert read(chart, texts) == model.model_validate(given if meant is None else meant)


def test_what_the_job_says_counts_more_than_the_keys() -> None:
    values = {
        "maskrcnn": {"eval_period_in_epochs": 3},
        "job": {"hyperparameters": {"eval_period": "5", "seed": "7"}},
    }

    texts = hyperparameters(render("maskrcnn-horovod", values))

    assert (texts["eval_period"], texts["seed"], texts["mode_fpn"]) == ("5", "7", "True")


@pytest.mark.parametrize("chart", TRAINING)
def test_a_complete_set_arrives_as_it_was_given(chart: str) -> None:
    model = algorithms.load(TRAINING[chart]).HYPERPARAMETERS
    given = {**to_texts(model()), "config:TEST.RESULT_SCORE_THRESH_VIS": '"<&> \n é'}

    job = {"hyperparameters": given, "hyperparameters_complete": True}

    assert hyperparameters(render(chart, {"job": job})) == given


def test_the_files_of_the_contract_are_json_objects_of_texts() -> None:
    (config,) = (each for each in render("maskrcnn") if each["kind"] == "ConfigMap")

    assert set(config["data"]) == {"hyperparameters.json", "inputdataconfig.json"}
    assert all(
        isinstance(v, str) for v in json.loads(config["data"]["hyperparameters.json"]).values()
    )
    assert json.loads(config["data"]["inputdataconfig.json"]) == {
        "train": {"TrainingInputMode": "File"}
    }
