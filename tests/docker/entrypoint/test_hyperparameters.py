"""hyperparameters.json."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from entrypoint.errors import EntrypointError
from entrypoint.hyperparameters import read_hyperparameters, unquoted
from hypothesis import given
from hypothesis import strategies as st

from training.hyperparameter_text import to_text


def test_plain_and_quoted_texts_are_taken_alike(tmp_path: Path) -> None:
    path = tmp_path / "hyperparameters.json"
    given_values = {
        "batch_norm": "FreezeBN",
        "backbone_weights": '"ImageNet-R50-AlignPadding.npz"',
        "lr_epoch_schedule": "[(16, 0.1), (20, 0.01), (24, None)]",
        "mode_fpn": "True",
        "eval_period": "1",
        "sagemaker_program": '"train.py"',
    }
    path.write_text(json.dumps(given_values))
    assert read_hyperparameters(str(path)) == {
        "batch_norm": "FreezeBN",
        "backbone_weights": "ImageNet-R50-AlignPadding.npz",
        "lr_epoch_schedule": "[(16, 0.1), (20, 0.01), (24, None)]",
        "mode_fpn": "True",
        "eval_period": "1",
    }


@pytest.mark.parametrize("text", ['"', '""', '"a', 'a"', '"a" or "b"', '"\\x"', "'a'", "[1]", ""])
def test_what_is_no_quoted_text_stays_as_it_is(text: str) -> None:
    assert unquoted(text) == ("" if text == '""' else text)


@given(text=st.text(max_size=50))
def test_every_text_that_the_launcher_writes_arrives_as_it_was(text: str) -> None:
    assert unquoted(to_text(text)) == text


def test_a_value_that_is_no_text_is_an_error_with_its_name(tmp_path: Path) -> None:
    path = tmp_path / "hyperparameters.json"
    path.write_text(json.dumps({"seed": 1}))
    with pytest.raises(EntrypointError, match=r'json: seed: 1; expected text.*: "1"$'):
        read_hyperparameters(str(path))
