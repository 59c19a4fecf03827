"""The page about security names places and tests that exist."""

from __future__ import annotations

import re
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[2]
PAGE = (PROJECT / "docs" / "security.md").read_text(encoding="utf-8")
CODE = set(re.findall(r"`([^`\s]+)`", PAGE))


def test_every_place_that_it_names_is_there() -> None:
    folders = "|".join(path.name for path in PROJECT.iterdir() if path.is_dir())
    places = {name for name in CODE if re.match(rf"(?:{folders})/", name)}
    assert len(places) > 50
    assert [name for name in sorted(places) if not (PROJECT / name).exists()] == []


def test_every_test_that_it_names_is_there() -> None:
    named = {name for name in CODE if re.fullmatch(r"test_\w+", name)}
    written = {
        name
        for path in (PROJECT / "tests").rglob("test_*.py")
        for name in re.findall(r"^def (test_\w+)", path.read_text(encoding="utf-8"), re.MULTILINE)
    }
    assert len(named) > 50
    assert sorted(named - written) == []


def test_every_threat_has_an_answer_a_place_and_what_shows_it() -> None:
    rows = [
        [cell.strip() for cell in line.strip("|").split("|")]
        for line in PAGE.splitlines()
        if line.startswith("| ")
    ]
    assert len(rows) > 40
    assert [row[0] for row in rows if len(row) != 5 or not all(row[:4])] == []
