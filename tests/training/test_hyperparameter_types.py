from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter, ValidationError

from training import hyperparameter_types as types
from training.hyperparameter_types import read_optional_word, read_text, read_word

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False),
    lambda inner: st.lists(inner, max_size=3),
    max_leaves=5,
)


@given(VALUES)
def test_a_value_is_read_from_json_python_and_quotes_around_them(value: Any) -> None:
    for text in (json.dumps(value), repr(value), json.dumps(repr(value)), repr(json.dumps(value))):
        assert read_text(text) == value


@given(st.text())
def test_a_word_in_quotes_is_the_word_whatever_it_spells(word: str) -> None:
    assert read_word(json.dumps(word)) == word


@pytest.mark.parametrize("word", ["None", "5", "True", "a b"])
def test_a_word_without_quotes_is_itself(word: str) -> None:
    assert read_word(word) == word


@pytest.mark.parametrize("text", ["None", "null", "", " None ", '"None"'])
def test_no_word(text: str) -> None:
    assert read_optional_word(text) is None


@pytest.mark.parametrize(
    ("kind", "text", "value"),
    [
        (types.Count, '"5"', 5),
        (types.Bool, '"true"', True),
        (types.Bool, "False", False),
        (types.Float, '"1e-3"', 1e-3),
        (types.Norm, "None", "None"),
        (types.Norm, None, "None"),
        (types.Names, '"train2017"', ("train2017",)),
        (types.Names, "a,b", ("a", "b")),
        (types.OptionalFile, '"x.npz"', "x.npz"),
        (types.OptionalFile, "None", None),
        (types.File, "COCO/model-1", "COCO/model-1"),
    ],
)
def test_a_text_is_taken_as_its_value(kind: Any, text: Any, value: Any) -> None:
    assert TypeAdapter(kind).validate_python(text) == value


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        (types.Count, "True"),
        (types.Count, "1.0"),
        (types.Bool, "1"),
        (types.Bool, "yes"),
        (types.File, "/x"),
        (types.File, "x/../y"),
        (types.File, "x/"),
        (types.File, ""),
        (types.File, "-x"),
        (types.File, "x\ny"),
    ],
)
def test_a_text_of_another_kind_is_refused(kind: Any, text: str) -> None:
    with pytest.raises(ValidationError):
        TypeAdapter(kind).validate_python(text)
