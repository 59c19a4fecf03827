from __future__ import annotations

import ast
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.conftest import ROOT
from training import algorithms
from training.config_keys import check_config, split_config

LITERALS = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False),
    lambda inner: st.lists(inner, max_size=3) | st.tuples(inner, inner),
    max_leaves=5,
)


def check(value: Any, *, texts: frozenset[str] = frozenset()) -> str:
    return check_config({"A.B": value}, known=frozenset({"A.B"}), texts=texts, set_by={})["A.B"]


@given(LITERALS)
def test_a_value_and_its_text_and_its_quoted_text_are_passed_on_as_the_value(value: Any) -> None:
    for given_as in (value, repr(value), f'"{value!r}"'):
        assert ast.literal_eval(check(given_as)) == value


@given(st.text())
def test_what_is_passed_on_can_only_be_a_literal(text: str) -> None:
    try:
        passed = check(text)
    except ValueError as error:
        assert "config:A.B" in str(error)
    else:
        ast.literal_eval(passed)


@given(st.text(alphabet=st.characters(exclude_categories=["Cs"])))
def test_a_key_of_texts_takes_any_text(text: str) -> None:
    assert check(json.dumps(text), texts=frozenset({"A.B"})) == text


def test_nested_keys_are_joined() -> None:
    own, config = split_config(
        {"seed": 1, "config:TRAIN": {"BASE_LR": 0.1, "X": {"Y": 2}}, "config:MODE": True}
    )
    assert own == {"seed": 1}
    assert config == {"TRAIN.BASE_LR": 0.1, "TRAIN.X.Y": 2, "MODE": True}


@pytest.mark.parametrize(
    ("key", "hint"),
    [
        ("TRAIN.BASE_RL", "did you mean TRAIN.BASE_LR?"),
        ("train.base_lr", "did you mean TRAIN.BASE_LR?"),
        ("TRAIN.BASE_LR\n", "did you mean TRAIN.BASE_LR?"),
        ("x", "its keys begin with RPN, TRAIN, for example RPN.FG_RATIO"),
        ("", "its keys begin with RPN, TRAIN, for example RPN.FG_RATIO"),
    ],
)
def test_an_unknown_key_is_refused_with_the_nearest(key: str, hint: str) -> None:
    with pytest.raises(ValueError, match="has no such key") as caught:
        check_config(
            {key: 1},
            known=frozenset({"TRAIN.BASE_LR", "RPN.FG_RATIO"}),
            texts=frozenset(),
            set_by={},
        )
    assert str(caught.value).endswith(hint)


@pytest.mark.parametrize("algorithm", ["tensorpack", "aws-samples"])
def test_the_keys_are_those_of_the_real_configuration(algorithm: str) -> None:
    real = json.loads((ROOT / f"tests/docker/adapters/golden/{algorithm}.json").read_text())["keys"]
    own: Any = algorithms.load(algorithm).HYPERPARAMETERS
    assert own.KEYS | own.OWN_KEYS.keys() == real.keys()
    assert not own.KEYS & own.OWN_KEYS.keys()
    assert {key for key in own.KEYS if real[key] == "str"} == own.TEXT_KEYS
