"""Every page is found, and every link between pages leads to a place that is there."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

PROJECT = Path(__file__).resolve().parents[2]
PAGES = [
    PROJECT / "README.md",
    PROJECT / "bench/README.md",
    *sorted((PROJECT / "docs").glob("*.md")),
]
_LINK = re.compile(r"\]\((?!https?:)([^)\s#]*)(?:#([^)\s]+))?\)")


def without_code(page: Path) -> str:
    """Return a page's text outside of its blocks of code, whose comments look like headings."""
    return re.sub(r"^```.*?^```$", "", page.read_text(encoding="utf-8"), flags=re.S | re.M)


def anchors(page: Path) -> Iterator[str]:
    """Yield the names that GitHub gives a page's headings: small letters, hyphens for blanks."""
    seen: Counter[str] = Counter()
    for heading in re.findall(r"^#{1,6} (.+)$", without_code(page), re.MULTILINE):
        words = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).lower()
        name = re.sub(r"[^\w\- ]", "", words).replace(" ", "-")
        yield f"{name}-{seen[name]}" if seen[name] else name
        seen[name] += 1


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(PROJECT)))
def test_every_link_leads_to_a_file_and_a_heading(page: Path) -> None:
    lost = []
    for file, anchor in _LINK.findall(without_code(page)):
        target = page.parent / file if file else page
        if not target.exists() or (anchor and anchor not in set(anchors(target))):
            lost.append(f"{file}#{anchor}")
    assert lost == []


def test_no_heading_of_a_page_is_there_twice() -> None:
    """The second would have another anchor, and a reader two places to look."""
    doubled = {
        page.name: [name for name in anchors(page) if re.search(r"-[1-9]$", name)] for page in PAGES
    }
    assert {name: found for name, found in doubled.items() if found} == {}


def test_the_first_page_names_all_others() -> None:
    text = (PROJECT / "README.md").read_text(encoding="utf-8")
    assert [page.name for page in PAGES[2:] if f"(docs/{page.name})" not in text] == []
