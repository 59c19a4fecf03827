"""Hyperparameters as the texts that SageMaker passes on."""

from __future__ import annotations

import ast
import json
import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from training.hyperparameter_text import to_text, to_texts
from training.hyperparameter_types import read_text, read_word
from training.maskrcnn.hyperparameters import Hyperparameters, read_hyperparameters

HOSTILE = [
    "it's",
    'a "quoted" word',
    "$(touch hacked)",
    "`touch hacked`; rm -rf / && true | cat > x",
    "${HOME} %PATH% !! \\n \\",
    "two\nlines",
    "a\r\nb\tc\x00d\x1b[31me",
    "a\u2028b\u2029c\u0085d",
    "größer 模型 🚀",
    "\ud800",
    " blank ends ",
    '"',
    "'single'",
    "--flag=value",
    "x" * 1000,
]


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("FreezeBN", "FreezeBN"),
        ("", ""),
        ("$(reboot)", "$(reboot)"),
        ("größer", "größer"),
        ("two\nlines", '"two\\nlines"'),
        ('"quoted"', '"\\"quoted\\""'),
        (True, "True"),
        (None, "None"),
        (4, "4"),
        (1e-4, "0.0001"),
        (1e-5, "1e-05"),
        ((240000, 320000, 360000), "[240000, 320000, 360000]"),
        (((16, 0.1), (20, 0.01), (24, None)), "[(16, 0.1), (20, 0.01), (24, None)]"),
        (("train2017",), "['train2017']"),
        ([], "[]"),
    ],
)
def test_a_value_is_spelled_as_the_original_jobs_did(value: Any, text: str) -> None:
    assert to_text(value) == text


words = st.text(max_size=40) | st.sampled_from(HOSTILE)


@given(words)
def test_any_word_is_one_line_and_readers_get_it_back(word: str) -> None:
    text = to_text(word)
    # SageMaker's pattern for a value, by Java's rules.
    assert re.fullmatch("[^\n\r\u0085\u2028\u2029]*", text)
    assert read_word(text) == word
    text.encode()


@given(words)
def test_quotes_are_taken_off_once_and_only_where_they_were_put_on(word: str) -> None:
    """What docker/entrypoint does, before an adapter gets the words."""
    text = to_text(word)
    assert (json.loads(text) if text.startswith('"') else text) == word


scalars = (
    st.none()
    | st.booleans()
    | st.integers(-(10**9), 10**9)
    | st.floats(allow_nan=False, allow_infinity=False)
    | words
)


@given(st.lists(scalars | st.tuples(scalars, scalars), max_size=5))
def test_any_list_is_one_line_of_python(values: list[Any]) -> None:
    for given_as in (values, tuple(values)):
        text = to_text(given_as)
        assert ast.literal_eval(text) == values
        assert re.fullmatch("[^\n\r\u0085\u2028\u2029]*", text)


@given(st.one_of(st.booleans(), st.integers(), st.floats(allow_nan=False, allow_infinity=False)))
def test_any_number_is_read_back_as_the_same_type(value: Any) -> None:
    found = read_text(to_text(value))
    assert (found, type(found)) == (value, type(value))


@given(
    st.fixed_dictionaries(
        {},
        optional={
            "backbone_weights": st.none() | st.text("abc$()'\"", min_size=1, max_size=30),
            "load_model": st.none() | st.text("mo del$();`&", min_size=1, max_size=30),
            "resnet_arch": st.sampled_from(["resnet18", "resnet50", "resnet101", "mobilenet"]),
            "data_train": st.lists(
                st.from_regex(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,9}", fullmatch=True),
                min_size=1,
                max_size=3,
                unique=True,
            ),
            "image_short_sides": st.lists(st.integers(1, 1333), min_size=1, max_size=4),
            "base_learning_rate": st.floats(1e-9, 10),
            "gradient_clip": st.none() | st.floats(1e-6, 100),
            "lr_epoch_schedule": st.builds(
                lambda epochs, rate: [
                    *((epoch, rate) for epoch in epochs[:-1]),
                    (epochs[-1], None),
                ],
                st.lists(st.integers(1, 99), min_size=1, max_size=4, unique=True).map(sorted),
                st.floats(1e-6, 2),
            ),
            "flip_probability": st.floats(0, 1),
            "seed": st.integers(0, 2**32 - 1),
        },
    )
)
def test_the_trainer_reads_what_the_launcher_wrote(values: dict[str, Any]) -> None:
    meant = Hyperparameters.model_validate(values)
    assert read_hyperparameters(to_texts(meant), source="hyperparameters.json") == meant
