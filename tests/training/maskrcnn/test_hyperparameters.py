from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from training.errors import UsageError
from training.maskrcnn.hyperparameters import Hyperparameters, read_hyperparameters


def read(**values: Any) -> Hyperparameters:
    return read_hyperparameters(values, source="job.yaml")


def test_plain_strings_of_sagemaker_mean_the_same_as_values() -> None:
    plain = read(
        mode_fpn="True",
        batch_norm="FreezeBN",
        lr_epoch_schedule="[(16, 0.1), (20, 0.01), (24, None)]",
        data_train="train2017,val2017",
        batch_size_per_gpu="2",
        gradient_clip="None",
        backbone_weights="None",
        image_short_sides="(640, 800)",
    )
    assert plain == read(
        lr_epoch_schedule=[[16, 0.1], [20, 0.01], [24, None]],
        data_train=["train2017", "val2017"],
        batch_size_per_gpu=2,
        backbone_weights=None,
        image_short_sides=[640, 800],
    )


def test_every_value_survives_as_json_text_and_as_python_text() -> None:
    original = read(batch_norm="None", backbone_weights=None, optimizer="adamw", seed=5)
    dumped = original.model_dump(mode="json")
    assert read(**dumped) == original
    assert read(**{name: json.dumps(value) for name, value in dumped.items()}) == original
    assert read(**{name: str(value) for name, value in dumped.items()}) == original


def test_batch_norm_none_may_be_yaml_null() -> None:
    assert read(batch_norm=None).batch_norm == "None"


def test_modes_that_differ_have_defaults_that_differ() -> None:
    values = read(mode_fpn="False").model_dump()
    assert {
        name: value for name, value in values.items() if value != read().model_dump()[name]
    } == {
        "mode_fpn": False,
        "rpn_pre_nms_train": 12000,
        "rpn_pre_nms_test": 6000,
        "exact_geometry": True,
    }
    assert read(mode_fpn=False, rpn_pre_nms_train=5).rpn_pre_nms_train == 5
    assert read(mode_fpn=False, anchor_sizes=64).anchor_sizes == (64,)
    assert read(mode_mask=False, mask_head_layers=2).mask_head_layers == 2


def test_a_whole_model_with_group_norm_needs_no_word_about_backbone_weights() -> None:
    assert read(batch_norm="GN", load_model="model.pt").weight_files() == {"load_model": "model.pt"}


def test_without_a_schedule_training_takes_the_24_epochs_of_the_reference() -> None:
    assert read().lr_epoch_schedule == ((16, 0.1), (20, 0.01), (24, None))
    assert read(lr_schedule=[10, 20]).lr_epoch_schedule is None


@given(
    st.lists(st.integers(1, 10**6), min_size=1, max_size=5, unique=True),
    st.floats(1e-4, 10),
)
def test_epoch_schedule_reads_back_from_its_own_text(epochs: list[int], value: float) -> None:
    *drops, last = sorted(epochs)
    pairs = (*((epoch, value) for epoch in drops), (last, None))
    assert read(lr_epoch_schedule=str(list(pairs))).lr_epoch_schedule == pairs


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"mode_fpn": 0}, "mode_fpn: 0: input should be a valid boolean"),
        ({"mode_mask": "no"}, "mode_mask: 'no': input should be a valid boolean"),
        ({"mode_fpn": "False", "resnet_arch": "mobilenet"}, "mobilenet keep mode_fpn True, or"),
        ({"batch_norm": "BN"}, "batch_norm: 'BN': input should be 'FreezeBN', 'SyncBN', 'GN' or"),
        ({"batch_size_per_gpu": True}, "batch_size_per_gpu: True: input should be a valid integer"),
        ({"batch_size_per_gpu": 0}, "greater than or equal to 1"),
        ({"batch_size_per_gpu": "1.5"}, "batch_size_per_gpu: 1.5: input should be a valid integer"),
        ({"base_learning_rate": "fast"}, "base_learning_rate: 'fast': input should be a valid num"),
        ({"lr_schedule": [3, 2]}, "the steps must increase"),
        ({"lr_epoch_schedule": [(1, 0.1)]}, "the last pair, and only that, has None"),
        ({"lr_epoch_schedule": [(2, 0.1), (2, None)]}, "the epochs must increase"),
        ({"lr_schedule": [9], "lr_epoch_schedule": [(1, None)]}, "give one, not both"),
        ({"bach_norm": "GN"}, "bach_norm: unknown key; did you mean batch_norm?"),
        ({"data_train": "../etc"}, "data_train.0: '../etc': string should match pattern"),
        ({"data_train": "a,b,a"}, "data_train: 'a,b,a': a stands there twice; name each"),
        ({"image_short_sides": [1400]}, "image_max_side 1333 is less than the largest of"),
        (
            {"image_short_sides": [800, 640], "short_side_sampling": "range"},
            "image_short_sides [800, 640]: with short_side_sampling range give the smallest and",
        ),
        ({"short_side_sampling": "range"}, "image_short_sides [800]: with short_side_sampling"),
        ({"repeat_threshold": 0}, "repeat_threshold: 0: input should be greater than 0"),
        ({"repeat_threshold": 1.5}, "repeat_threshold: 1.5: input should be less than or equal to"),
        ({"batch_norm": "GN"}, "with batch_norm GN give None or a file"),
        ({"anchor_sizes": [8, 16]}, "anchor_sizes [8, 16]: give 5, one for each level of the pyra"),
        ({"anchor_sizes": [], "mode_fpn": False}, "at least 1 item"),
        ({"fpn_channels": 20}, "multiple of 8"),
    ],
)
def test_a_wrong_value_is_refused_by_name_with_what_is_allowed(
    values: dict[str, Any], message: str
) -> None:
    with pytest.raises(UsageError) as refused:
        read(**values)
    assert message in str(refused.value)
    assert str(refused.value).startswith("job.yaml: ")


def test_all_wrong_values_are_told_at_once() -> None:
    with pytest.raises(UsageError) as refused:
        read(optimizer="lamb", precision="fp8", seed=-1)
    assert len(str(refused.value).splitlines()) == 3


def test_hyperparameters_are_frozen() -> None:
    with pytest.raises(ValueError, match="frozen"):
        read().seed = 3  # type: ignore[misc]


def test_importing_hyperparameters_does_not_import_torch() -> None:
    code = "import sys, training.maskrcnn.hyperparameters; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
