"""The plan of the original tutorial's job against what its Estimator sent.

sdk/original.json is what version 2.3.0 of the SDK, which the notebook installs, sends for the
notebook's arguments: 4 x ml.p3.16xlarge, EFS, TensorPack. sdk/original.py has captured it.
"""

from __future__ import annotations

import ast
import json
from typing import Any

import pytest

from tests.training.platforms.sagemaker.comparison import ABSENT, Difference, differences
from tests.training.platforms.sagemaker.original_differences import ALLOWED, reason
from tests.training.platforms.sagemaker.planning import body
from tests.training.platforms.sagemaker.sdk.environment import HERE, run_in_environment
from tests.training.platforms.sagemaker.service_model import complaints

ORIGINAL: dict[str, Any] = json.loads((HERE / "original.json").read_text())

ENTRY_SCRIPT_DEFAULTS = {
    "resnet_arch": "resnet50",
    "backbone_weights": "ImageNet-R50-AlignPadding.npz",
    "data_train": ["coco_train2017"],
    "data_val": ["coco_val2017"],
    "images_per_epoch": 120_000,
    "lr_schedule": [240_000, 320_000, 360_000],
    "load_model": None,
    "horovod_cycle_time": 0.5,
    "horovod_fusion_threshold": 67_108_864,
    "nccl_min_rings": 8,
}
"""container/resources/train.py of aws/amazon-sagemaker-examples@6e42d82, where a job sets nothing.
Splits are lists here, of which that script makes one of a single name."""

WHAT_TENSORPACK_DOES = {"batch_size_per_gpu": 1, "precision": "fp32", "checkpoint_period": 1}
"""examples/FasterRCNN of tensorpack/tensorpack@db541e8 has no choice, or this default."""


@pytest.fixture(scope="module")
def ours() -> dict[str, Any]:
    """The same job here: nothing is said but algorithm, platform and data source."""
    return body(algorithm="tensorpack", data_source="efs")


@pytest.fixture(scope="module")
def found(ours: dict[str, Any]) -> list[Difference]:
    return list(differences(ours, ORIGINAL))


def test_every_field_is_the_originals_but_those_with_a_reason(found: list[Difference]) -> None:
    assert [each for each in found if reason(each.field) is None] == []


def test_every_reason_is_needed(found: list[Difference]) -> None:
    needed = {reason(each.field) for each in found}
    assert [each.what for each in ALLOWED if each not in needed] == []


def test_nothing_of_the_original_is_left_out(found: list[Difference]) -> None:
    assert [each.field for each in found if each.ours == ABSENT] == []


def test_hyperparameters_that_the_original_did_not_send_have_its_defaults(
    ours: dict[str, Any],
) -> None:
    more = ours["HyperParameters"].keys() - ORIGINAL["HyperParameters"].keys()
    assert {name: _value(ours["HyperParameters"][name]) for name in more} == {
        **ENTRY_SCRIPT_DEFAULTS,
        **WHAT_TENSORPACK_DOES,
    }


def test_the_original_is_a_valid_request() -> None:
    assert complaints(ORIGINAL) == []


@pytest.mark.soak
def test_the_originals_sdk_still_sends_what_is_kept_here() -> None:
    assert run_in_environment("original") == ORIGINAL


def _value(text: str) -> Any:
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return text
