"""The page of `training.data check --html`, in a browser."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from training.data.check import examine
from training.data.health_page import render
from training.data.splits import find_splits

COCO = Path(__file__).resolve().parents[2] / "data" / "coco"
pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page of the sample with faults in boxes, files and very long names."""
    root = tmp_path_factory.mktemp("health") / "set"
    shutil.copytree(COCO, root)
    path = root / "annotations/instances_train2017.json"
    document = json.loads(path.read_text())
    for number, annotation in enumerate(document["annotations"][:20]):
        annotation["bbox"] = [number, number, 0, 5]
    document["annotations"][20]["segmentation"] = [["x" * 400] * 6]
    document["categories"][0]["name"] = "a category with a name " * 10
    path.write_text(json.dumps(document))
    broken = root / "train2017/000000006818.jpg"
    broken.write_bytes(broken.read_bytes()[:-3000])
    made = root.parent / "health.html"
    made.write_text(render(root, examine(find_splits(root), exhibits=24)), encoding="utf-8")
    return made


@pytest.mark.parametrize("width", [360, 800, 1280])
@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_the_page_fits_every_width_and_asks_for_nothing(
    page: Path, browser: Any, width: int, dark: bool
) -> None:
    browser.open(page, width=width, dark=dark)
    assert browser.evaluate("document.documentElement.scrollWidth") <= width
    assert browser.evaluate("[...document.images].every(image => image.naturalWidth > 0)")
    assert browser.evaluate("document.images.length") >= 3
    asked = [
        event["params"]["request"]["url"]
        for event in browser.events
        if event["method"] == "Network.requestWillBeSent"
    ]
    assert [url for url in asked if not url.startswith(("file:", "data:"))] == []
    assert [event for event in browser.events if event["method"] == "Log.entryAdded"] == []
