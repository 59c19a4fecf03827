"""What the table of old parameters names is there."""

from __future__ import annotations

import re
from pathlib import Path

from stacks.settings import Settings
from tests.training.platforms.sagemaker.original_differences import docs_table
from training.outputs import CONTRACTS, output_key

DOCUMENT = Path(__file__).resolve().parents[2] / "docs" / "migration.md"


def cells_named_now() -> list[str]:
    """Return what stands in the column `now` of each table."""
    found: list[str] = []
    column = None
    for line in DOCUMENT.read_text(encoding="utf-8").splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if not line.startswith("|"):
            column = None
        elif "now" in cells and "note" in cells:
            column = cells.index("now")
        elif column is not None and not set(line) <= set("|- "):
            found.append(cells[column])
    return found


def test_every_setting_and_output_of_the_column_now_exists() -> None:
    outputs = {
        f"{contract.STACK}.{output_key(name)}"
        for contract in CONTRACTS
        for name in contract.__dataclass_fields__
    }
    named = [name for cell in cells_named_now() for name in re.findall(r"`([^`]+)`", cell)]
    assert len(named) > 50
    assert [name for name in named if name not in outputs and name not in Settings.allowed()] == []


def test_no_old_parameter_is_without_an_answer() -> None:
    assert [cell for cell in cells_named_now() if not cell] == []


def test_the_table_of_the_original_job_is_what_the_tests_allow_to_differ() -> None:
    assert docs_table() in DOCUMENT.read_text(encoding="utf-8")
