from __future__ import annotations

import copy
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from training.data.check import examine
from training.data.health import Health
from training.data.health_page import render
from training.data.health_text import lines_of_health
from training.data.splits import find_splits
from training.layout import TrainChannel

WriteSet = Callable[[Any], TrainChannel]
SAMPLE = Path(__file__).parents[2] / "data" / "coco"


@pytest.fixture
def damaged(write_set: WriteSet, document: dict[str, Any]) -> Path:
    content = copy.deepcopy(document)
    content["annotations"][0] |= {"bbox": [-9, 3, 30, 99], "segmentation": [[1, 1, 5, 5]]}
    content["annotations"].append({**document["annotations"][0], "id": 9, "bbox": [1, 1, 0, 5]})
    content["categories"].append({"id": 5, "name": "<script>alert(1)</script>"})
    content["images"][1]["file_name"] = "b & <i>.jpg"
    channel = write_set(content)
    folder = channel.images("train2017")
    (folder / "b.jpg").rename(folder / "b & <i>.jpg")
    (folder / "b & <i>.jpg").write_bytes(b"")
    return channel.root


def look_at(root: Path) -> Health:
    return examine(find_splits(root), exhibits=8)


def test_the_page_shows_each_fault_with_its_places_and_the_worst_pictures(damaged: Path) -> None:
    page = render(damaged, look_at(damaged))
    assert page.count("<figure") == 2
    assert page.count('src="data:image/webp;base64,') == 1
    assert "cannot be decoded" in page
    assert "annotations[0] (id 1, image 1) bbox [-9, 3, 30, 99]" in page
    assert "annotation-box-empty" in page
    assert "3 kinds of error" in page


def test_the_page_asks_for_nothing_and_runs_nothing(damaged: Path) -> None:
    page = render(damaged, look_at(damaged))
    assert "default-src 'none'" in page
    assert "<script" not in page
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in page
    assert "b &amp; &lt;i&gt;.jpg" in page
    assert not re.search(r"""(src|href)=["'](?!data:)""", page)


def test_a_sound_set_has_a_page_without_pictures() -> None:
    page = render(SAMPLE, look_at(SAMPLE))
    assert "no error" in page
    assert "Nothing was found to be wrong" in page
    assert "<figure" not in page
    assert len(page.encode()) < 200_000


def test_the_page_stays_small_whatever_the_pictures(
    write_set: WriteSet, document: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    from training.data import health_page

    monkeypatch.setattr(health_page, "BUDGET_BYTES", 500)
    document["annotations"][0]["bbox"] = [1, 1, 0, 5]
    root = write_set(document).root
    assert "<figure" not in render(root, look_at(root))


def test_json_has_every_place_and_count(damaged: Path) -> None:
    report = look_at(damaged).to_json(damaged)
    assert json.loads(json.dumps(report)) == report
    (split,) = report["splits"]
    faults = {fault["code"]: fault for fault in split["faults"]}
    assert faults["annotation-box-empty"] == {
        "code": "annotation-box-empty",
        "severity": "error",
        "count": 1,
        "places": ["annotations[2] (id 9, image 1) bbox [1, 1, 0, 5]"],
    }
    assert split["category_id_holes"] == [4]
    assert (split["images"], split["annotations"], split["objects"]) == (2, 3, 1)
    assert report["errors"] == sum(one["severity"] == "error" for one in report["findings"])


def test_text_has_amounts_first_and_errors_before_warnings(damaged: Path) -> None:
    lines = list(lines_of_health(look_at(damaged)))
    assert lines[0] == (
        "train2017: 2 pictures, 1 of them without an object; 3 annotations: 1 objects, 0 crowds"
    )
    assert "  2 categories, ids 3 to 5 with holes: 4" in lines
    found = [line.split(":")[0] for line in lines if line.startswith(("error:", "warning:"))]
    assert found == sorted(found)
    assert "warning" in found


def test_exhibits_are_of_every_kind_of_fault_before_a_second_of_one(
    write_set: WriteSet, document: dict[str, Any]
) -> None:
    for number in range(20):
        name = f"{number:02}.png"
        document["images"].append({"id": 10 + number, "file_name": name, "width": 9, "height": 9})
    channel = write_set(document)
    for number in range(20):
        Image.new("RGB", (8, 8)).save(channel.images("train2017") / f"{number:02}.png")
    Image.new("CMYK", (40, 30)).save(channel.images("train2017") / "a.jpg")
    (split,) = examine(find_splits(channel.root), exhibits=3).splits
    assert [exhibit.name for exhibit in split.exhibits] == ["00.png", "a.jpg", "01.png"]


def test_names_command_neither_the_page_nor_the_terminal(
    write_set: WriteSet, document: dict[str, Any]
) -> None:
    odd = "b\x1b[2J\u202e.jpg"
    document["images"][1]["file_name"] = odd
    document["categories"][0]["name"] = "st\x1b[31mar\u2066"
    document["annotations"][1]["bbox"] = [1, 1, 0, 5]
    channel = write_set(document)
    (channel.images("train2017") / "b.jpg").rename(channel.images("train2017") / odd)
    health = look_at(channel.root)
    page, text = render(channel.root, health), "\n".join(lines_of_health(health))
    assert not re.search("[\x00-\x08\x0e-\x1f\u202a-\u202e\u2066-\u2069]", page + text)
    assert r"b\x1b[2J\u202e.jpg" in page
    assert r"3 st\x1b[31mar\u2066" in page
    assert r"3 st\x1b[31mar\u2066" in text
