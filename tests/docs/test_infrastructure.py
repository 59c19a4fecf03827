"""The page about the stacks names settings that exist, with values that are allowed."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from stacks.settings import Settings
from training.preflight.stacks.registry import ALL

DOCS = Path(__file__).resolve().parents[2] / "docs"
GIVEN = re.compile(r"(?:-c |`| )(?P<key>[a-z][a-z0-9_]+)=(?P<value>[^`\s]*)")
NOT_SETTINGS = frozenset({"key"})
"""What stands for any of them."""


@pytest.mark.parametrize("document", ["infrastructure.md", "operations.md", "migration.md"])
def test_every_setting_of_an_example_exists(document: str) -> None:
    text = (DOCS / document).read_text(encoding="utf-8")
    keys = {match["key"] for match in GIVEN.finditer(text)} - NOT_SETTINGS
    assert keys - set(Settings.allowed()) == set()


def test_the_examples_of_one_setting_are_accepted() -> None:
    text = (DOCS / "infrastructure.md").read_text(encoding="utf-8")
    tables = re.findall(r"^\| you want \| context \|\n((?:\|.*\n)+)", text, re.MULTILINE)
    cells = re.findall(r"\| `([a-z_]+=[^`…]*)` \|$", "".join(tables), re.MULTILINE)
    assert len(cells) >= 8
    for cell in cells:
        pairs = (item.partition("=") for item in cell.split(" "))
        Settings.from_context({key: value for key, _, value in pairs})


def test_the_policy_for_the_checks_allows_what_they_call_and_no_more() -> None:
    text = (DOCS / "infrastructure.md").read_text(encoding="utf-8")
    policy = json.loads(re.findall(r"```json\n(.*?)```", text, re.DOTALL)[0])
    [statement] = policy["Statement"]
    assert set(statement["Action"]) == {action for check in ALL for action in check.actions}
