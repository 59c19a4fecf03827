"""The tables of the three implementations that are not our own."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

import pytest
from pydantic import BaseModel

from training import algorithms
from training.errors import UsageError
from training.hyperparameter_text import to_texts
from training.job import parse_assignments, read_job

OTHERS = ("tensorpack", "aws-samples", "tf2-smddp")


def read(algorithm: str, **hyperparameters: Any) -> BaseModel:
    return read_job(
        None, {"algorithm": algorithm, "hyperparameters": hyperparameters}
    ).hyperparameters


def refusal(algorithm: str, **hyperparameters: Any) -> str:
    with pytest.raises(UsageError) as caught:
        read(algorithm, **hyperparameters)
    return str(caught.value)


def test_defaults_of_tensorpack() -> None:
    assert read("tensorpack").model_dump() == {
        "mode_fpn": True,
        "mode_mask": True,
        "eval_period": 1,
        "lr_schedule": (240_000, 320_000, 360_000),
        "batch_norm": "FreezeBN",
        "images_per_epoch": 120_000,
        "data_train": ("coco_train2017",),
        "data_val": ("coco_val2017",),
        "batch_size_per_gpu": 1,
        "precision": "fp32",
        "resnet_arch": "resnet50",
        "backbone_weights": "ImageNet-R50-AlignPadding.npz",
        "load_model": None,
        "checkpoint_period": 1,
        "horovod_cycle_time": 0.5,
        "horovod_fusion_threshold": 67_108_864,
        "nccl_min_rings": 8,
    }


def test_defaults_of_aws_samples() -> None:
    assert read("aws-samples").model_dump() == {
        "mode_fpn": True,
        "mode_mask": True,
        "eval_period": 1,
        "lr_epoch_schedule": ((16, 0.1), (20, 0.01), (24, None)),
        "batch_norm": "FreezeBN",
        "images_per_epoch": 120_000,
        "data_train": ("train2017",),
        "data_val": ("val2017",),
        "batch_size_per_gpu": 4,
        "precision": "fp16",
        "resnet_arch": "resnet50",
        "backbone_weights": "ImageNet-R50-AlignPadding.npz",
        "load_model": None,
        "horovod_cycle_time": 0.5,
        "horovod_fusion_threshold": 67_108_864,
        "nccl_min_rings": 8,
    }


def test_defaults_of_tf2_smddp() -> None:
    values = read("tf2-smddp").model_dump()
    expected = {
        "init_learning_rate": 0.04,
        "learning_rate_steps": (3750, 5000),
        "total_steps": 500,
        "train_batch_size": 4,
        "eval_samples": 5000,
        "amp": True,
        "xla": True,
        "seed": 987,
        "checkpoint": "resnet-nhwc-2018-02-07",
    }
    assert {name: values[name] for name in expected} == expected


@pytest.mark.parametrize(
    ("algorithm", "name", "value", "allowed"),
    [
        ("tensorpack", "batch_size_per_gpu", 4, "input should be 1"),
        ("tensorpack", "precision", "fp16", "input should be 'fp32'"),
        ("tensorpack", "resnet_arch", "resnet18", "'resnet50' or 'resnet101'"),
        ("tensorpack", "batch_norm", "BN", "'FreezeBN', 'SyncBN', 'GN' or 'None'"),
        ("tensorpack", "lr_schedule", [2, 1], "the steps must increase"),
        ("tensorpack", "lr_schedule", None, "expected a list"),
        ("tensorpack", "images_per_epoch", 0, "greater than or equal to 1"),
        ("tensorpack", "images_per_epoch", None, "valid integer"),
        ("aws-samples", "batch_size_per_gpu", 5, "less than or equal to 4"),
        ("aws-samples", "batch_size_per_gpu", 0, "greater than or equal to 1"),
        ("aws-samples", "batch_size_per_gpu", 1.5, "valid integer"),
        ("aws-samples", "precision", "fp32", "input should be 'fp16'"),
        ("aws-samples", "mode_fpn", False, "only True is allowed"),
        ("aws-samples", "resnet_arch", "mobilenet", "'resnet50' or 'resnet101'"),
        ("aws-samples", "lr_epoch_schedule", [[16, 0.1]], "the last pair, and only that, has None"),
        ("tf2-smddp", "mode", "eval", "'train' or 'train_and_eval'"),
        ("tf2-smddp", "learning_rate_steps", "3750", "expected a list"),
        ("tf2-smddp", "learning_rate_steps", "1,2,3", "at most 2 items"),
        ("tf2-smddp", "total_steps", 0, "greater than or equal to 1"),
        ("tf2-smddp", "amp", "yes", "valid boolean"),
        ("tf2-smddp", "init_learning_rate", 0, "greater than 0"),
    ],
)
def test_a_value_that_the_implementation_cannot_take_is_refused_with_what_is_allowed(
    algorithm: str, name: str, value: Any, allowed: str
) -> None:
    message = refusal(algorithm, **{name: value})
    assert f"hyperparameters.{name}" in message
    assert allowed in message


@pytest.mark.parametrize(
    ("algorithm", "name", "instead"),
    [
        ("tensorpack", "lr_epoch_schedule", "give lr_schedule in steps of 8 pictures"),
        ("aws-samples", "lr_schedule", "give lr_epoch_schedule in epochs"),
        ("aws-samples", "checkpoint_period", "after every epoch"),
    ],
)
def test_what_one_implementation_lacks_is_refused_with_what_it_has(
    algorithm: str, name: str, instead: str
) -> None:
    message = refusal(algorithm, **{name: "[1, 2]"})
    assert f"{name}: " in message
    assert instead in message


def test_tensorpack_has_only_the_splits_that_it_registers() -> None:
    message = refusal("tensorpack", data_train="train2017")
    assert "'train2017': input should be 'coco_train2017'" in message
    both = read("tensorpack", data_train="coco_train2014,coco_valminusminival2014")
    assert algorithms.load("tensorpack").splits(both) == [
        "train2014",
        "valminusminival2014",
        "val2017",
    ]


@pytest.mark.parametrize("algorithm", ["tensorpack", "aws-samples"])
def test_resnet101_needs_weights_of_its_own(algorithm: str) -> None:
    assert "give weights for resnet101" in refusal(algorithm, resnet_arch="resnet101")
    read(algorithm, resnet_arch="resnet101", backbone_weights="ImageNet-R101-AlignPadding.npz")
    read(algorithm, resnet_arch="resnet101", load_model="COCO-MaskRCNN-R101FPN1x.npz")


@pytest.mark.parametrize("algorithm", ["tensorpack", "aws-samples"])
def test_the_weights_that_a_job_begins_with(algorithm: str) -> None:
    module = algorithms.load(algorithm)
    assert module.weight_files(read(algorithm)) == {
        "backbone_weights": "ImageNet-R50-AlignPadding.npz"
    }
    assert module.weight_files(read(algorithm, load_model="COCO/model-360000")) == {
        "load_model": "COCO/model-360000"
    }


@pytest.mark.parametrize("name", ["../x.npz", "/etc/passwd", "a b", "-x", "x;y", "a/../b", "$(id)"])
def test_a_file_of_weights_stays_in_its_folder(name: str) -> None:
    assert "hyperparameters.load_model" in refusal("tensorpack", load_model=name)
    assert "hyperparameters.checkpoint" in refusal("tf2-smddp", checkpoint=name)


def test_tf2_smddp_needs_as_many_samples_as_a_batch_of_evaluation() -> None:
    assert "eval_samples 4 is less than eval_batch_size 8; raise it" in refusal(
        "tf2-smddp", eval_samples=4
    )


EXAMPLES: dict[str, dict[str, Any]] = {
    "tensorpack": {
        "mode_fpn": False,
        "batch_norm": "None",
        "load_model": "COCO-MaskRCNN-R50C41x.npz",
        "data_val": ("coco_val2017", "coco_minival2014"),
        "lr_schedule": (1, 2),
        "config:TRAIN.BASE_LR": "0.02",
        "config:FPN.FRCNN_HEAD_FUNC": "fastrcnn_4conv1fc_head",
        "config:PREPROC.TRAIN_SHORT_EDGE_SIZE": "[640, 800]",
    },
    "aws-samples": {
        "mode_mask": False,
        "batch_size_per_gpu": 1,
        "lr_epoch_schedule": ((1, 0.5), (2, None)),
        "config:RPN.ANCHOR_RATIOS": "(0.5, 1.0)",
    },
    "tf2-smddp": {"amp": False, "learning_rate_steps": (1, 2), "mode": "train_and_eval"},
}


@pytest.mark.parametrize("algorithm", OTHERS)
def test_values_texts_and_quoted_texts_mean_the_same(algorithm: str) -> None:
    own = read(algorithm, **EXAMPLES[algorithm])
    texts = to_texts(own)
    assert all(isinstance(text, str) for text in texts.values())
    assert read(algorithm, **texts) == own
    assert read(algorithm, **{name: json.dumps(text) for name, text in texts.items()}) == own
    assert read(algorithm, **json.loads(json.dumps(own.model_dump()))) == own


@pytest.mark.parametrize("algorithm", OTHERS)
def test_the_json_of_a_job_is_its_hyperparameters_again(algorithm: str) -> None:
    own = read(algorithm, **EXAMPLES[algorithm])
    assert type(own).model_validate_json(own.model_dump_json()) == own


def test_a_key_of_the_configuration_can_be_set_on_the_command_line() -> None:
    overrides = parse_assignments(
        [
            "hyperparameters.config:TRAIN.BASE_LR=0.02",
            "hyperparameters.config:TRAIN.WARMUP=500",
            "hyperparameters.config:FPN.CASCADE=true",
            "hyperparameters.config:PREPROC.TRAIN_SHORT_EDGE_SIZE=[640, 800]",
        ]
    )
    own = read_job(None, {"algorithm": "tensorpack", **overrides}).hyperparameters
    dumped = own.model_dump()
    assert {name: text for name, text in dumped.items() if name.startswith("config")} == {
        "config:TRAIN.BASE_LR": "0.02",
        "config:TRAIN.WARMUP": "500",
        "config:FPN.CASCADE": "True",
        "config:PREPROC.TRAIN_SHORT_EDGE_SIZE": "[640, 800]",
    }


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        ("MODE_FPN", "True", "config:MODE_FPN: use the hyperparameter mode_fpn"),
        ("TRAIN.LR_SCHEDULE", "[1]", "use the hyperparameter lr_schedule"),
        ("DATA.BASEDIR", "/x", "it is the train channel"),
        ("TRAINER", "replicated", "config:TRAINER: it is horovod"),
        ("train.base_lr", "1", "no such key; did you mean TRAIN.BASE_LR?"),
        ("TRAIN.BASE_LR=1 X", "1", "no such key; did you mean TRAIN.BASE_LR?"),
        ("TRAIN.BASE_LR", "__import__('os').system('id')", "expected a number, True, False"),
        ("TRAIN.BASE_LR", "fast", "expected a number, True, False"),
        ("FRCNN.BBOX_REG_WEIGHTS", "[10, exit()]", "expected a number, True, False"),
    ],
)
def test_a_key_or_value_that_may_not_be_passed_on(key: str, value: str, message: str) -> None:
    assert message in refusal("tensorpack", **{f"config:{key}": value})


def test_a_configuration_without_a_key_is_refused() -> None:
    assert "config: name the key" in refusal("aws-samples", config={"TRAIN.BASE_LR": 1})


def test_an_unknown_name_is_refused_with_the_nearest() -> None:
    assert "did you mean lr_schedule?" in refusal("tensorpack", lr_schedul=[1])


def test_planning_with_an_algorithm_imports_nothing_heavy() -> None:
    code = (
        "import sys\n"
        "from training import algorithms\n"
        "import training.algorithms.pairings\n"
        "for name in algorithms.NAMES:\n"
        "    module = algorithms.load(name)\n"
        "    module.learning_rates(module.HYPERPARAMETERS(), world_size=8)\n"
        "heavy = ('torch', 'boto3', 'botocore', 'sagemaker', 'numpy')\n"
        "print([name for name in heavy if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert done.stdout.strip() == "[]"
