"""Whatever the settings: they are taken and synthesize, or one line names the key."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import assume, example, given, settings

from app import build_app
from stacks.nag import read_violations
from stacks.settings import Settings
from tests.stacks.matrix import STACKS, read_template
from tests.stacks.settings_strategies import Context, any_combination, any_setting, matching
from training.errors import UsageError

OF_PYDANTIC = ("validation error", "Input should", "type=", "pydantic", "Traceback")


def refusal(context: Context) -> str | None:
    """Return why settings are refused, None where they are taken."""
    try:
        Settings.from_context(context)
    except UsageError as error:
        return str(error)
    return None


@given(any_setting)
@example(("vpc_cidr", "["))
@example(("tags", "{"))
@example(("tags", "a"))
@example(("private_subnets", [{}]))
@example(("zone_count", "2.5"))
@example(("fsx_zone", True))
@settings(max_examples=300)
def test_any_value_is_taken_or_refused_by_its_key(setting: tuple[str, Any]) -> None:
    key, value = setting
    message = refusal({key: value})
    if message is not None:
        assert key in message
        assert len(message.splitlines()) == 1
        assert not [word for word in OF_PYDANTIC if word in message]


@given(any_combination)
@settings(max_examples=300)
def test_a_combination_is_taken_or_refused_by_its_keys(context: Context) -> None:
    """Some key is named, and of what was given a key or its value."""
    message = refusal(context)
    if message is not None:
        assert [key for key in Settings.allowed() if key in message]
        assert [key for key in context if key in message or str(context[key]) in message]
        assert len(message.splitlines()) == 1


@pytest.mark.parametrize("key", Settings.allowed())
def test_what_is_allowed_is_said_for_each_key(key: str) -> None:
    message = refusal({key: {"no": "setting"}}) or refusal({key: "\0"})
    assert message is not None
    assert Settings.allowed()[key] in message


@given(matching)
@settings(max_examples=5)
def test_what_is_taken_synthesizes_and_breaks_no_rule(context: Context) -> None:
    check_that_it_synthesizes(context)


@pytest.mark.soak
@given(matching)
@settings(max_examples=60)
def test_much_that_is_taken_synthesizes_and_breaks_no_rule(context: Context) -> None:
    check_that_it_synthesizes(context)


def check_that_it_synthesizes(context: Context) -> None:
    assume(refusal(context) is None)
    with tempfile.TemporaryDirectory() as folder:
        assembly = Path(folder)
        build_app(context, outdir=folder).synth()
        assert [each for each in read_violations(assembly) if each.is_refused] == []
        assert [stack for stack in STACKS if not read_template(assembly, stack)["Outputs"]] == []
