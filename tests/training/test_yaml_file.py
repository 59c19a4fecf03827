"""What YAML spells, and what it must not."""

from __future__ import annotations

import time
from typing import Any

import pytest

from training.errors import UsageError
from training.yaml_file import MOST_VALUES, read_yaml

# Ten lists of nine, each of the list before: a third of a kilobyte that spells 9^10 values.
BOMB = "x: &a [y]\n" + "".join(
    f"x{number}: &{chr(98 + number)} [{', '.join([f'*{chr(97 + number)}'] * 9)}]\n"
    for number in range(10)
)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("", None),
        ("# nothing", None),
        ("a: {b: [1, x]}", {"a": {"b": [1, "x"]}}),
        ("a: &x [1]\nb: *x\nc: {d: *x}", {"a": [1], "b": [1], "c": {"d": [1]}}),
        ("a: &x {b: 1}\nc: {<<: *x, d: 2}", {"a": {"b": 1}, "c": {"b": 1, "d": 2}}),
    ],
)
def test_values_are_read_with_their_aliases(text: str, value: Any) -> None:
    assert read_yaml(text, source="job.yaml") == value


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (BOMB, f"job.yaml: its aliases (*NAME) spell more than {MOST_VALUES:,} values"),
        ("a: 1\nb: &x {c: [*x]}", "job.yaml: line 2: a value that holds itself"),
        ("a: &x\n  <<: *x", "job.yaml: line 1: a value that holds itself"),
        ("a: 1\na: 2", "the key 'a' is there twice"),
        ("? [a]\n: b", "a key is a word, and here is a list or a map"),
        ("[" * 5000, "job.yaml: nested too deeply"),
        ("a: 1\n---\nb: 2", "expected a single document"),
        ("a: 2026-02-30", "a value cannot be read"),
        ("a: !!python/name:os.system", "could not determine a constructor"),
    ],
)
def test_what_yaml_must_not_spell_is_an_error_at_once(text: str, said: str) -> None:
    began_s = time.monotonic()
    with pytest.raises(UsageError) as error:
        read_yaml(text, source="job.yaml")
    assert said in str(error.value)
    assert time.monotonic() - began_s < 5
