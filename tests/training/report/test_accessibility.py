"""Pages as people with impaired sight or hands meet them: axe-core's rules, in a real browser."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from training.layout import TrainChannel
from training.report import comparison, comparison_page, write_page, write_report

AXE = Path(__file__).resolve().parents[3] / "node_modules" / "axe-core" / "axe.min.js"
WIDTHS = (390, 820, 1400)
RULES = ("wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice")

pytestmark = pytest.mark.browser


def violations(browser: Any, path: Path, *, width: int, dark: bool) -> dict[str, list[str]]:
    """Return the rules that a page breaks, each with the places."""
    browser.open(path, width=width, dark=dark)
    browser.evaluate("document.querySelectorAll('details').forEach(one => one.open = true)")
    browser.evaluate(AXE.read_text(encoding="utf-8") + "; 0")
    options = f"{{runOnly: {list(RULES)}, resultTypes: ['violations']}}"
    found = browser.evaluate(f"axe.run({options}).then(result => result.violations)")
    return {
        rule["id"]: [str(node["target"]) + ": " + node["failureSummary"] for node in rule["nodes"]]
        for rule in found
    }


@pytest.fixture(params=["completed", "failed"])
def report(request: pytest.FixtureRequest, sample: Any, coco: TrainChannel) -> Path:
    sample.write_all(status=request.param)
    return write_report(sample.log, coco)


@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize("width", WIDTHS)
def test_the_report_breaks_no_rule(report: Path, browser: Any, width: int, dark: bool) -> None:
    assert violations(browser, report, width=width, dark=dark) == {}


def test_a_page_that_breaks_one_is_found(tmp_path: Path, browser: Any) -> None:
    page = tmp_path / "page.html"
    page.write_text("<!doctype html><html><body><img src='data:,'></body></html>")
    assert {"image-alt", "html-has-lang"} <= violations(browser, page, width=820, dark=False).keys()


@pytest.mark.parametrize("dark", [False, True])
def test_the_comparison_breaks_no_rule(
    sample: Any, tmp_path: Path, browser: Any, dark: bool
) -> None:
    other = type(sample)(type(sample.log)(tmp_path / "other"))
    other.log.root.mkdir()
    for each in (sample, other):
        each.write_all()
    evaluation = json.loads(other.log.evaluation.read_text(encoding="utf-8"))
    evaluation["categories"][0]["ap"]["segm"]["IoU=0.5:0.95"] = 0.1
    other.log.evaluation.write_text(json.dumps(evaluation), encoding="utf-8")
    runs = comparison.read_runs([sample.log.root, other.log.root])
    page = tmp_path / "compare.html"
    write_page(page, comparison_page.render(runs, lambda _run: None, notes=["a note"]))
    assert "Classes that differ" in page.read_text(encoding="utf-8")
    for width in WIDTHS:
        assert violations(browser, page, width=width, dark=dark) == {}
