from __future__ import annotations

import json
from typing import Any

import pytest

from training.algorithms.reference_hyperparameters import ReferenceHyperparameters
from training.algorithms.tensorpack_hyperparameters import TensorPackHyperparameters
from training.errors import UsageError
from training.job import parse_assignments, read_job
from training.maskrcnn import tensorpack_config
from training.maskrcnn.hyperparameters import Hyperparameters, read_hyperparameters
from training.reference_keys import AWS_SAMPLES_KEYS, TENSORPACK_KEYS


def read(**values: Any) -> Hyperparameters:
    return read_hyperparameters(values, source="job.yaml")


@pytest.mark.parametrize(
    ("key", "value", "means"),
    [
        ("MODE_MASK", "False", {"mode_mask": False}),
        ("MODE_FPN", False, {"mode_fpn": False, "rpn_pre_nms_train": 12000}),
        ("BACKBONE.RESNET_NUM_BLOCKS", "[3, 4, 23, 3]", {"resnet_arch": "resnet101"}),
        ("BACKBONE.WEIGHTS", "R50.npz", {"backbone_weights": "R50.npz"}),
        ("BACKBONE.WEIGHTS", "", {"backbone_weights": None}),
        ("BACKBONE.NORM", "SyncBN", {"batch_norm": "SyncBN"}),
        ("BACKBONE.FREEZE_AT", 2, {"trainable_backbone_layers": 3}),
        (
            "DATA.TRAIN",
            "('coco_train2017', 'coco_val2017')",
            {"data_train": ("train2017", "val2017")},
        ),
        ("DATA.VAL", "coco_val2017", {"data_val": ("val2017",)}),
        ("DATA.FILTER_EMPTY_ANNOTATIONS", "False", {"empty_pictures": "train"}),
        ("TRAIN.BASE_LR", 0.02, {"base_learning_rate": 0.02, "reference_batch_size": 8}),
        ("TRAIN.LR_SCHEDULE", "1x", {"lr_schedule": (120_000, 160_000, 180_000)}),
        ("TRAIN.LR_SCHEDULE", "3x", {"lr_schedule": (420_000, 500_000, 540_000)}),
        ("TRAIN.LR_SCHEDULE", "[10, 20]", {"lr_schedule": (10, 20), "lr_epoch_schedule": None}),
        ("TRAIN.WARMUP", 500, {"warmup_steps": 500}),
        ("TRAIN.GRADIENT_CLIP", 0, {"gradient_clip": None}),
        ("PREPROC.TRAIN_SHORT_EDGE_SIZE", 600, {"image_short_sides": (600,)}),
        (
            "PREPROC.TRAIN_SHORT_EDGE_SIZE",
            "[640, 800]",
            {"image_short_sides": (640, 800), "short_side_sampling": "range"},
        ),
        ("RPN.ANCHOR_RATIOS", "(0.5, 1., 2.)", {"anchor_aspect_ratios": (0.5, 1.0, 2.0)}),
        (
            "RPN.TRAIN_PER_LEVEL_NMS_TOPK",
            500,
            {"rpn_pre_nms_train": 500, "rpn_post_nms_train": 500, "rpn_pre_nms_test": 1000},
        ),
        ("FRCNN.BATCH_PER_IM", 128, {"roi_batch_per_image": 128}),
        ("TEST.RESULT_SCORE_THRESH", "1e-4", {"score_threshold": 1e-4}),
        ("FRCNN.BBOX_REG_WEIGHTS", "[10., 10., 5., 5.]", {}),
        ("PREPROC.PIXEL_MEAN", "[123.675, 116.28, 103.53]", {}),
        ("BACKBONE.TF_PAD_MODE", "False", {}),
    ],
)
def test_a_key_of_tensorpack_is_a_plain_hyperparameter(
    key: str, value: Any, means: dict[str, Any]
) -> None:
    values = read_hyperparameters({f"config:{key}": value}, source="job").model_dump()
    assert not any(name.startswith("config") for name in values)
    assert values == {**read().model_dump(), **read(**means).model_dump(), **means}


@pytest.mark.parametrize("value", ["0.02", 0.02])
def test_a_key_may_be_nested_and_given_twice_with_the_same_meaning(value: Any) -> None:
    own = read(
        **{
            "config:TRAIN": {"BASE_LR": value, "WARMUP": 10},
            "base_learning_rate": 0.02,
            "config:DATA.TRAIN": "coco_train2017",
            "data_train": ["train2017"],
        }
    )
    assert (own.base_learning_rate, own.warmup_steps) == (0.02, 10)


@pytest.mark.parametrize(
    ("values", "message"),
    [
        (
            {"config:FRCNN.BATCH_PER_IM": 64, "roi_batch_per_image": 128},
            "config:FRCNN.BATCH_PER_IM: 64 means roi_batch_per_image 64, but roi_batch_per_image "
            "says 128; give one of them",
        ),
        (
            {"config:TRAIN.BASE_LR": 0.02, "reference_batch_size": 16},
            "means reference_batch_size 8, but reference_batch_size says 16",
        ),
        (
            {"config:TRAIN.WARMUP": 5, "config:TRAIN.WARMUP_STEPS": 6},
            "but config:TRAIN.WARMUP says 5",
        ),
        ({"config:TRAIN.WARMUP_INIT_LR": 1e-5}, "no hyperparameter is the same: .*warmup_factor"),
        (
            {"config:CASCADE.IOUS": "[0.5]"},
            "CASCADE.IOUS: .*the trainer has nothing like it",
        ),
        ({"config:TRAIN.BASE_LRR": 1}, r"no such key; did you mean TRAIN\.BASE_LR\?"),
        ({"config:train.base_lr": 1}, r"no such key; did you mean TRAIN\.BASE_LR\?"),
        ({"config:FPN.CASCADE": "True"}, "config:FPN.CASCADE: True: the trainer's model has False"),
        ({"config:BACKBONE.STRIDE_1X1": True}, "the trainer's model has False, and nothing else"),
        ({"config:BACKBONE.RESNET_NUM_BLOCKS": "[3, 8, 36, 3]"}, "are allowed"),
        ({"config:BACKBONE.RESNET_NUM_BLOCKS": "[[3], 4, 6, 3]"}, "are allowed"),
        ({"config:BACKBONE.FREEZE_AT": 3}, "config:BACKBONE.FREEZE_AT: 3: expected 0, 1 or 2"),
        ({"config:BACKBONE.FREEZE_AT": [2]}, "expected 0, 1 or 2"),
        ({"config:BACKBONE.FREEZE_AT": True}, "expected 0, 1 or 2"),
        ({"config:TRAIN.LR_SCHEDULE": "x"}, '"1x" to "9x"'),
        ({"config:RPN.TRAIN_PRE_NMS_TOPK": 9}, "TensorPack reads it with MODE_FPN=False only"),
        (
            {"config:RPN.TRAIN_PER_LEVEL_NMS_TOPK": 9, "mode_fpn": False},
            "TensorPack reads it with MODE_FPN=True only",
        ),
        ({"config:FRCNN.BATCH_PER_IM": "many"}, "roi_batch_per_image: 'many': input should be"),
        ({"config:TRAIN.BASE_LR": "__import__('os')"}, "base_learning_rate: .*valid number"),
    ],
)
def test_what_the_trainer_cannot_do_as_asked_is_refused(
    values: dict[str, Any], message: str
) -> None:
    with pytest.raises(UsageError, match=message):
        read_hyperparameters(values, source="job.yaml")


def test_every_key_of_both_implementations_has_an_answer_without_a_guess() -> None:
    theirs = {
        *TENSORPACK_KEYS,
        *AWS_SAMPLES_KEYS,
        *ReferenceHyperparameters.OWN_KEYS,
        *TensorPackHyperparameters.OWN_KEYS,
    }
    assert theirs <= tensorpack_config.KEYS
    fields = Hyperparameters.model_fields.keys()
    assert {*tensorpack_config.SAME.values(), *tensorpack_config.OF_C4.values()} <= fields


def test_the_same_job_spec_sets_both_trainers() -> None:
    assignments = parse_assignments(
        [
            "hyperparameters.config:TRAIN.BASE_LR=0.02",
            "hyperparameters.config:PREPROC.TRAIN_SHORT_EDGE_SIZE=[640, 800]",
        ]
    )
    ours = read_job(None, {"algorithm": "horovod", **assignments}).hyperparameters
    theirs = read_job(None, {"algorithm": "tensorpack", **assignments}).hyperparameters
    assert json.loads(ours.model_dump_json())["base_learning_rate"] == 0.02
    assert theirs.model_dump()["config:TRAIN.BASE_LR"] == "0.02"
