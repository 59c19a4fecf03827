"""What no text of any setting may hold, and how values are shown in messages."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stacks.settings import Settings
from stacks.settings.context import LONGEST_REASON
from stacks.settings.text import LONGEST_SHOWN, problems_of_text, shown
from tests.stacks.matrix import MATRIX
from training.errors import UsageError

SPOILS = (
    "{{resolve:ssm:a}}",
    "${AWS::Region}",
    "${Token[TOKEN.1]}",
    "\nx",
    "\x00",
    "\ud800",
    "\u0663",
)
"""The last is a digit, though not of those that AWS takes."""

TEXTS = sorted(
    {
        (key, value)
        for row in MATRIX.values()
        for key, value in row.items()
        if isinstance(value, str)
    }
)
NUMBERS = sorted(
    field.alias or name
    for group in Settings.groups().values()
    for name, field in group.model_fields.items()
    if "int" in str(field.annotation)
)


def refusal(context: dict[str, Any]) -> str:
    with pytest.raises(UsageError) as error:
        Settings.from_context(context)
    return str(error.value)


@pytest.mark.parametrize("spoil", SPOILS)
@pytest.mark.parametrize(("key", "value"), TEXTS)
def test_a_value_with_what_no_setting_holds_is_refused_by_its_key(
    key: str, value: str, spoil: str
) -> None:
    if key == "tags" and spoil == "\u0663":
        return  # Tags are of any alphabet.
    message = refusal({key: f"{value}{spoil}"})
    assert message.startswith(f"context key {key} = ")
    assert len(message.splitlines()) == 1
    message.encode()


@pytest.mark.parametrize("value", [True, False, 2.0, 1.5, "1_0", "+1", "1.0", "\u0663", "0x1"])
@pytest.mark.parametrize("key", NUMBERS)
def test_only_whole_numbers_are_numbers(key: str, value: object) -> None:
    message = refusal({key: value})
    assert message == f"context key {key} = {shown(value)}: allowed is {Settings.allowed()[key]}"


def test_fields_of_numbers_are_found() -> None:
    assert {"fsx_zone", "zone_count", "efs_infrequent_access_days"} <= set(NUMBERS)


@pytest.mark.parametrize("key", sorted(Settings.allowed()))
@pytest.mark.parametrize("make", [str, lambda text: [text], lambda text: {text: text}])
def test_a_huge_value_is_not_repeated(key: str, make: Any) -> None:
    most = LONGEST_SHOWN * 2 + LONGEST_REASON + len(Settings.allowed()[key]) + 100
    assert len(refusal({key: make("x" * 100_000)})) < most


@pytest.mark.parametrize(
    ("key", "said"),
    [
        ("", "a context key is empty: write it before the equals sign, as in -c vpc_cidr="),
        (" ", "a context key is empty"),
        ("vpc\ncidr", r"context key vpc\ncidr is not known: did you mean vpc_cidr?"),
        ("\ud800", r"context key \ud800 is not known: known are"),
        ("q" * 100_000, f"context key {'q' * 30}…{'q' * 30} is not known: known are"),
    ],
)
def test_an_odd_key_is_told_on_one_line(key: str, said: str) -> None:
    message = refusal({key: "x"})
    assert message.startswith(said)
    assert len(message.splitlines()) == 1


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ({"a": ["${x}"]}, "it holds ${, in place of which CloudFormation and CDK put other text"),
        (("{{x",), "it holds {{, in place of which CloudFormation and CDK put other text"),
        ({"a\u2028": 1}, r"it holds the character '\u2028', which cannot be printed"),
        ("\x9b", r"it holds the character '\x9b', which cannot be printed"),
    ],
)
def test_texts_are_looked_at_however_deep(value: object, said: str) -> None:
    assert list(problems_of_text(value)) == [said]


@given(st.text(st.characters(exclude_categories=())))
def test_what_is_shown_is_short_and_can_be_printed(text: str) -> None:
    said = shown(text)
    assert len(said) <= LONGEST_SHOWN + 1
    assert len(said.splitlines()) == 1
    said.encode()


def test_a_token_is_not_shown_even_where_the_middle_is_left_out() -> None:
    said = shown("https://user:" + "secret" * 50 + "@example.org/a")
    assert said == "'https://***@example.org/a'"
