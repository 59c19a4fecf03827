"""What TensorPack and AWS's variant of it leave, as their writers write it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from training.report.tensorpack import newest_outputs, read_outputs, read_statistics
from training.told import Told


def attempt(folder: Path, *entries: dict[str, float]) -> Path:
    folder.mkdir()
    (folder / "stats.json").write_text(json.dumps(list(entries)))
    return folder


def test_the_figures_of_all_starts_are_one_curve(tmp_path: Path) -> None:
    first = attempt(
        tmp_path / "attempt-1",
        {"epoch_num": 1, "global_step": 500, "total_cost": 2.0, "learning_rate": 0.01},
        {"epoch_num": 2, "global_step": 1000, "total_cost": 1.5, "learning_rate": 0.01},
    )
    second = attempt(
        tmp_path / "attempt-2",
        {"epoch_num": 2, "global_step": 1000, "total_cost": 1.4, "mAP(bbox)/IoU=0.5:0.95": 0.3},
        {
            "epoch_num": 3,
            "global_step": 1500,
            "total_cost": 1.0,
            # TensorPack itself writes the name of the data set before it.
            "coco_val2017-mAP(bbox)/IoU=0.5:0.95": 0.37,
            "coco_val2017-mAP(segm)/IoU=0.5:0.95": 0.33,
        },
    )
    metrics = read_statistics([first, second])
    assert [point.x for point in metrics.train["total_cost"]] == [500, 1000, 1000, 1500]
    assert metrics.last_evaluation == {
        "mAP(bbox)/IoU=0.5:0.95": 0.37,
        "mAP(segm)/IoU=0.5:0.95": 0.33,
    }
    assert metrics.last_evaluation_step == 1500
    assert metrics.unreadable_lines == 0


@pytest.mark.parametrize("text", ["", "[", "{}", '[1, {"global_step": "x"}]', "[" * 5000])
def test_a_file_that_is_not_whole_has_no_figures(tmp_path: Path, text: str) -> None:
    folder = attempt(tmp_path / "attempt-1")
    (folder / "stats.json").write_text(text)
    assert read_statistics([folder, tmp_path / "absent"]).train == {}


def test_the_last_evaluation_is_the_one_of_the_highest_step(tmp_path: Path) -> None:
    first, second = attempt(tmp_path / "attempt-1"), attempt(tmp_path / "attempt-2")
    for name in ("coco_val2017-outputs500.json", "coco_val2017-outputs1500.json"):
        (first / name).write_text("[]")
    # A part of an evaluation that runs, which is deleted at its end.
    (second / "outputs2000-part0.json").write_text("[]")
    (second / "val2017-outputs1000").write_text("[]")
    found = newest_outputs([first, second])
    assert found is not None
    assert (found.path.name, found.split, found.step) == (
        "coco_val2017-outputs1500.json",
        "val2017",
        1500,
    )
    assert newest_outputs([]) is None


@pytest.mark.parametrize("text", ["[", "{}x", '[{"image_id": 1}]', "[1]"])
def test_detections_that_are_not_whole_are_refused(tmp_path: Path, text: str) -> None:
    folder = attempt(tmp_path / "attempt-1")
    (folder / "val2017-outputs5.json").write_text(text)
    found = newest_outputs([folder])
    assert found is not None
    with pytest.raises(Told, match=r"val2017-outputs5\.json: "):
        read_outputs(found)
