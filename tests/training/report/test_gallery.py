import json
from pathlib import Path
from typing import Any

import pytest

from training.layout import TrainChannel
from training.report import gallery
from training.report.evaluation import Evaluation, read_evaluation
from training.report.gallery import build_gallery

FIRST, SECOND = 475546, 547503
"""The pictures of the sample's val2017."""


def evaluation_of(sample: Any, **changes: Any) -> Evaluation:
    sample.write_evaluation(**changes)
    evaluation = read_evaluation(sample.log)
    assert evaluation is not None
    return evaluation


def test_the_best_and_the_worst_come_with_their_verdicts(sample: Any, coco: TrainChannel):
    sample.write_predictions()
    extremes = build_gallery(sample.log, coco, evaluation_of(sample)).extremes
    assert extremes is not None
    assert [(title, [one.name for one in shown]) for title, shown in extremes.groups] == [
        ("Best", [f"{FIRST:012}.jpg"]),
        ("Worst", [f"{SECOND:012}.jpg"]),
    ]
    assert extremes.groups[1][1][0].verdict == "F1 0.80: 4 found, 1 wrong, 1 missed"
    assert "over all 2 pictures of val2017" in extremes.lead
    assert (
        "a score of 0.5 or more overlaps it with an IoU of 0.5 or more, by masks" in extremes.lead
    )


def test_detections_of_another_evaluation_are_not_judged(sample: Any, coco: TrainChannel):
    sample.write_predictions(step=20)
    shown = build_gallery(sample.log, coco, evaluation_of(sample, step=40))
    assert len(shown.exhibits) == 2
    assert shown.extremes is None


def test_pictures_whose_detections_were_not_kept_are_left_out(sample: Any, coco: TrainChannel):
    sample.write_predictions()
    document = json.loads(sample.log.predictions.read_text())
    document = {"images": [SECOND], **document}
    sample.log.predictions.write_text(json.dumps(document))
    shown = build_gallery(sample.log, coco, evaluation_of(sample))
    assert shown.extremes is not None
    assert [title for title, _ in shown.extremes.groups] == ["Worst"]
    assert [one.name for one in shown.exhibits] == [f"{SECOND:012}.jpg"]


def test_no_more_than_some_of_a_kind_are_shown(
    sample: Any, coco: TrainChannel, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(gallery, "EXTREMES", 2)
    sample.write_predictions(split="train2017")
    shown = build_gallery(sample.log, coco, evaluation_of(sample, split="train2017"))
    assert shown.extremes is not None
    assert [len(exhibits) for _, exhibits in shown.extremes.groups] == [2, 2]


def test_a_broken_picture_makes_room_for_the_next_one(
    sample: Any, coco: TrainChannel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    import shutil

    monkeypatch.setattr(gallery, "EXTREMES", 1)
    data = TrainChannel(tmp_path / "data")
    shutil.copytree(coco.root, data.root)
    (data.images("val2017") / f"{FIRST:012}.jpg").write_bytes(b"no picture")
    sample.write_predictions()
    evaluation = evaluation_of(sample, best=[FIRST, SECOND], worst=[])
    shown = build_gallery(sample.log, data, evaluation)
    assert shown.extremes is not None
    ((title, (exhibit,)),) = shown.extremes.groups
    assert (title, exhibit.name) == ("Best", f"{SECOND:012}.jpg")
    # Said once, though it was tried twice.
    assert shown.problems == (f"{FIRST:012}.jpg cannot be decoded.",)


def test_pictures_stay_within_the_budget(
    sample: Any, coco: TrainChannel, monkeypatch: pytest.MonkeyPatch
):
    sample.write_predictions()
    whole = build_gallery(sample.log, coco, evaluation_of(sample))
    assert whole.extremes is not None
    ((_, (first,)), _) = whole.extremes.groups
    monkeypatch.setattr(gallery, "BUDGET_BYTES", len(first.drawn.truth) * 3)
    shown = build_gallery(sample.log, coco, evaluation_of(sample))
    assert shown.extremes is not None
    assert [title for title, _ in shown.extremes.groups] == ["Best"]
    assert shown.exhibits == ()
