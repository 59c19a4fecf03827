"""Every command line that the pages show is one that the programs take."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest
import typer

from tests.command_lines import parse

PROJECT = Path(__file__).resolve().parents[2]
PAGES = [PROJECT / "README.md", *sorted((PROJECT / "docs").glob("*.md"))]


def shown(page: Path) -> list[str]:
    """Return the command lines in a page's code, without their comments."""
    text = page.read_text(encoding="utf-8").replace("\\\n", " ")
    lines = re.findall(r"^(?: {4})?python -m ((?:training|localaws)\S* .*)$", text, re.MULTILINE)
    return [re.split(r"\s+# ", line)[0].strip() for line in lines]


EXAMPLES = [pytest.param(line, id=f"{page.stem}: {line}") for page in PAGES for line in shown(page)]


@pytest.mark.parametrize("line", EXAMPLES)
def test_a_program_takes_what_the_docs_show(line: str) -> None:
    module, *arguments = shlex.split(line)
    try:
        parse(module, arguments)
    except typer.BadParameter as error:
        # Files that the reader has.
        assert re.fullmatch(r"path '.*' does not exist\.", str(error)), error


@pytest.mark.parametrize("line", EXAMPLES)
def test_a_job_spec_that_the_docs_name_is_there(line: str) -> None:
    assert [
        name for name in re.findall(r"\bjobs/\S+", line) if not (PROJECT / name).is_file()
    ] == []
