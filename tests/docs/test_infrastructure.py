"""The page about the stacks names settings that exist, with values that are allowed."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from stacks.endpoint_services import NEEDED
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


def test_what_is_shown_for_cdk_json_is_accepted_as_it_stands() -> None:
    """A whole file, or lines of its context."""
    text = (DOCS / "infrastructure.md").read_text(encoding="utf-8")
    blocks = re.findall(r"```json\n(.*?)```", text, re.DOTALL)
    shown = [block for block in blocks if '"Statement"' not in block]
    lines = [
        line
        for line in re.findall(r"`(\"[a-z_]+\": [^`…]+)`", text)
        if not line.startswith('"key"')
    ]
    assert len(shown) == 3
    assert len(lines) >= 3
    for part in [*shown, *lines]:
        given = json.loads(part if part.startswith("{") else f"{{{part}}}")
        Settings.from_context(given.get("context", given))


def test_the_number_of_interface_endpoints_without_internet_is_that_of_the_code() -> None:
    text = (DOCS / "infrastructure.md").read_text(encoding="utf-8")
    [said] = re.findall(r"(\d+) interface endpoints, one for each service", " ".join(text.split()))
    assert int(said) == len(NEEDED)


@pytest.mark.parametrize("document", sorted(path.name for path in DOCS.glob("*.md")))
def test_every_command_line_of_a_page_is_shown_as_code(document: str) -> None:
    """Indented, or between fences: else it is run together with the next paragraph."""
    text = (DOCS / document).read_text(encoding="utf-8")
    prose = re.sub(r"^```.*?^```$", "", text, flags=re.DOTALL | re.MULTILINE)
    programs = r"^(?:cdk|aws|python|pip|make|docker|eval|export) [^.]*$"
    stray = [
        line
        for before, line, after in zip(
            ["", *prose.splitlines()],
            prose.splitlines(),
            [*prose.splitlines()[1:], ""],
            strict=False,
        )
        if re.match(programs, line) and not before and not after
    ]
    assert stray == []


def test_the_policy_for_the_checks_allows_what_they_call_and_no_more() -> None:
    text = (DOCS / "infrastructure.md").read_text(encoding="utf-8")
    blocks = re.findall(r"```json\n(.*?)```", text, re.DOTALL)
    [policy] = [json.loads(block) for block in blocks if '"Statement"' in block]
    [statement] = policy["Statement"]
    assert set(statement["Action"]) == {action for check in ALL for action in check.actions}
