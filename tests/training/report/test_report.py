import json
import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from training.errors import JobFailed
from training.layout import TrainChannel
from training.report import write_report

EVIL = "<script>alert(1)</script>\"'&"


class Page(HTMLParser):
    """Tags with their attributes, and all text."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self.source = path.read_text(encoding="utf-8")
        self.feed(self.source)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.text += data

    def having(self, tag: str) -> list[dict[str, str | None]]:
        return [attributes for name, attributes in self.tags if name == tag]


def test_a_whole_report_shows_result_pictures_curves_and_setup(sample: Any, coco: TrainChannel):
    sample.write_all()
    path = write_report(sample.log, coco)
    page = Page(path)
    assert path == sample.log.report
    for text in (
        "mask-rcnn-s3-trial",
        "horovod · local · 2 processes",
        "The job ran to its end: 40 steps.",
        "Mean average precision at step 40",
        "Average precision of each class at step 40",
        "Precision and recall",
        "Most frequent confusions",
        "Best and worst pictures",
        "F1 0.89: 4 found, 0 wrong, 1 missed",
        "2 of 2 pictures of val2017",
        "python -m training.launch 'jobs/a b.yaml' --yes",
        "data_source",
    ):
        assert text in page.text, text
    assert len(page.having("img")) == 4 + 4
    assert len(page.having("svg")) == 6 + 2 + 79
    assert "Last lines" not in page.text


def test_the_page_needs_nothing_besides_itself(sample: Any, coco: TrainChannel):
    sample.write_all()
    page = Page(write_report(sample.log, coco))
    references = [
        attributes[name]
        for _, attributes in page.tags
        for name in ("src", "href", "srcset", "data", "action", "poster")
        if name in attributes
    ]
    assert references
    assert all(str(reference).startswith("data:") for reference in references)
    assert not page.having("script")
    assert not re.search(r"@import|url\(", page.source)
    assert len(page.source) < 5_000_000


def test_everything_that_a_user_made_is_escaped(sample: Any, tmp_path: Path):
    data = make_data(tmp_path / "data", category=EVIL)
    sample.write_all(status=None)
    sample.write_job(job_name=EVIL, platform=EVIL, command=[EVIL], spec={EVIL: EVIL})
    sample.write_outcome("failed", 3, message=EVIL)
    sample.log.rank(0).write_text(EVIL + "\n", encoding="utf-8")
    sample.log.metrics.write_text(sample.train_line(1, **{EVIL: 1.0}), encoding="utf-8")
    detection = {"image_id": 1, "category_id": 1, "segmentation": SQUARE, "score": 0.9}
    predictions = {"split": "val2017", "step": 1, "detections": [detection]}
    sample.log.predictions.write_text(json.dumps(predictions), encoding="utf-8")
    page = Page(write_report(sample.log, data))
    assert not page.having("script")
    assert page.text.count(EVIL) >= 8
    assert any(EVIL in str(image["alt"]) for image in page.having("img"))


DEEP = b'{"a":' * 100_000
"""More than Python's own parser goes down."""


@pytest.mark.parametrize(
    "name", ["job", "hyperparameters", "metrics", "predictions", "outcome", "evaluation"]
)
@pytest.mark.parametrize(
    "content", [None, b"", b"{", b"[]", b"\xff\xfe\x00", b"{}", pytest.param(DEEP, id="deep")]
)
def test_any_file_may_be_missing_or_broken(
    sample: Any, coco: TrainChannel, name: str, content: bytes | None
):
    sample.write_all()
    file: Path = getattr(sample.log, name)
    if content is None:
        file.unlink()
    else:
        file.write_bytes(content)
    train = coco if name == "predictions" else None  # drawing takes time
    assert "Training report" in Page(write_report(sample.log, train)).text


def test_a_log_without_its_evaluation_has_no_such_sections(sample: Any, coco: TrainChannel):
    sample.write_all()
    sample.log.evaluation.unlink()
    page = Page(write_report(sample.log, coco))
    assert "Mean average precision at step 40" in page.text
    assert len(page.having("svg")) == 6
    assert len(page.having("img")) == 4
    for text in ("Average precision of each class", "Confusion", "Best and worst", "recall"):
        assert text not in page.text


def test_an_evaluation_that_cannot_be_used_is_told(sample: Any):
    sample.write_all()
    sample.write_evaluation(version=2)
    page = Page(write_report(sample.log, None))
    assert "evaluation.json is of version 2" in page.text
    assert "Average precision of each class" not in page.text


def test_an_empty_log_channel_has_a_report(sample: Any):
    page = Page(write_report(sample.log, None))
    for text in (
        "Its record ends before the first step was logged.",
        "There was no evaluation.",
        "No training step was logged.",
        "The record of the job is not there.",
    ):
        assert text in page.text, text


def test_a_failed_job_shows_the_last_lines_of_each_rank(sample: Any):
    sample.write_all(status="failed")
    sample.log.rank(1).write_text(
        "Traceback (most recent call last):\nValueError: bad box\n", encoding="utf-8"
    )
    page = Page(write_report(sample.log, None))
    assert "ValueError: bad box" in page.text
    assert "rank 0 started" in page.text
    assert ["open" in one for one in page.having("details")][:2] == [False, True]


def test_a_picture_that_cannot_be_decoded_is_said(sample: Any, tmp_path: Path):
    data = make_data(tmp_path / "data", category="thing")
    (data.images("val2017") / "1.png").write_bytes(b"no picture")
    predictions = {"split": "val2017", "step": 1, "detections": []}
    sample.log.predictions.write_text(json.dumps(predictions), encoding="utf-8")
    page = Page(write_report(sample.log, data))
    assert "1.png cannot be decoded." in page.text
    assert not page.having("img")


def test_tables_and_pictures_are_made_for_readers_who_cannot_see_them(
    sample: Any, coco: TrainChannel
):
    sample.write_all()
    page = Page(write_report(sample.log, coco))
    assert page.having("html") == [{"lang": "en"}]
    assert all(image["alt"] for image in page.having("img"))
    assert all(svg["role"] == "img" and svg["aria-label"] for svg in page.having("svg"))
    assert {head["scope"] for head in page.having("th")} == {"col", "row"}


def test_a_folder_that_cannot_be_written_is_one_clear_error(sample: Any):
    sample.write_all()
    sample.log.report.mkdir()
    with pytest.raises(JobFailed, match=r"report\.html: cannot be written"):
        write_report(sample.log, None)
    assert [path.name for path in sample.log.root.glob(".report*")] == []


def test_the_same_record_gives_the_same_page(sample: Any, coco: TrainChannel):
    sample.write_all()
    first = write_report(sample.log, coco).read_bytes()
    assert write_report(sample.log, coco).read_bytes() == first


def test_importing_the_report_imports_nothing_heavy():
    heavy = ("torch", "PIL", "pycocotools", "jinja2", "numpy", "boto3")
    code = f"import sys, training.report; print([m for m in {heavy} if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


SQUARE = [[10, 10, 50, 10, 50, 50, 10, 50]]


def make_data(root: Path, *, category: str) -> TrainChannel:
    from PIL import Image

    data = TrainChannel(root)
    data.images("val2017").mkdir(parents=True)
    data.annotations("val2017").parent.mkdir()
    Image.new("RGB", (64, 64)).save(data.images("val2017") / "1.png")
    annotations = {
        "images": [{"id": 1, "file_name": "1.png", "width": 64, "height": 64}],
        "annotations": [{"id": 1, "image_id": 1, "category_id": 1, "segmentation": SQUARE}],
        "categories": [{"id": 1, "name": category}],
    }
    data.annotations("val2017").write_text(json.dumps(annotations), encoding="utf-8")
    return data
