import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from training.layout import LogChannel, TrainChannel
from training.report.dataset import MAX_DETECTIONS, PICTURES, NoPictures, choose_pictures


def test_pictures_come_with_truth_and_detections(sample: Any, coco: TrainChannel):
    sample.write_predictions()
    chosen = choose_pictures(sample.log, coco)
    assert (chosen.split, chosen.step, chosen.chosen_from) == ("val2017", 40, 2)
    first = chosen.pictures[0]
    assert first.path == coco.images("val2017") / "000000475546.jpg"
    assert {one.category for one in first.truth} >= {"person", "wine glass"}
    assert all(one.score is None for one in first.truth)
    scores = [one.score for one in first.predicted]
    assert scores == sorted(scores, reverse=True)


def test_at_most_eight_pictures_are_chosen_and_always_the_same(sample: Any, coco: TrainChannel):
    sample.write_predictions(split="train2017")
    chosen = choose_pictures(sample.log, coco)
    assert len(chosen.pictures) == PICTURES < chosen.chosen_from
    assert choose_pictures(sample.log, coco) == chosen


def test_weak_and_too_many_detections_are_hidden_and_counted(sample: Any, coco: TrainChannel):
    one = {"image_id": 475546, "category_id": 1, "segmentation": None, "bbox": [0, 0, 1, 1]}
    detections = [one | {"score": 0.9}] * (MAX_DETECTIONS + 3) + [one | {"score": 0.49}] * 2
    write(sample.log, {"split": "val2017", "step": 1, "detections": detections})
    (picture,) = choose_pictures(sample.log, coco).pictures
    assert len(picture.predicted) == MAX_DETECTIONS
    assert picture.hidden == 5


def test_without_any_detection_the_truth_is_shown(sample: Any, coco: TrainChannel):
    write(sample.log, {"split": "val2017", "step": 1, "detections": []})
    pictures = choose_pictures(sample.log, coco).pictures
    assert [len(picture.predicted) for picture in pictures] == [0, 0]


def test_keys_may_come_in_any_order(sample: Any, coco: TrainChannel):
    write(sample.log, {"detections": [], "step": 7, "split": "val2017"})
    assert choose_pictures(sample.log, coco).step == 7


def test_no_evaluation_is_said(sample: Any, coco: TrainChannel):
    with pytest.raises(NoPictures, match="No evaluation has left its predictions"):
        choose_pictures(sample.log, coco)


def test_detections_that_tensorpack_left_are_shown_too(sample: Any, coco: TrainChannel):
    """AWS's variant names the file without the data set, and lists detections alone."""
    sample.write_predictions()
    own = choose_pictures(sample.log, coco)
    detections = json.loads(sample.log.predictions.read_text(encoding="utf-8"))["detections"]
    sample.log.predictions.unlink()
    for attempt, step in (("attempt-1", 1500), ("attempt-2", 1000)):
        folder = sample.log.checkpoints / attempt
        folder.mkdir(parents=True)
        written = json.dumps(detections if step == 1500 else [])
        (folder / f"val2017-outputs{step}").write_text(written, encoding="utf-8")
    chosen = choose_pictures(sample.log, coco)
    assert (chosen.split, chosen.step, chosen.pictures) == ("val2017", 1500, own.pictures)


def test_no_data_set_is_said_with_the_way_out(sample: Any):
    sample.write_predictions()
    with pytest.raises(NoPictures, match="--data DIR"):
        choose_pictures(sample.log, None)


def test_missing_annotations_are_said(sample: Any, tmp_path: Path):
    sample.write_predictions()
    with pytest.raises(NoPictures, match="annotations are not there"):
        choose_pictures(sample.log, TrainChannel(tmp_path))


def test_missing_pictures_are_said(sample: Any, coco: TrainChannel, tmp_path: Path):
    sample.write_predictions()
    shutil.copytree(coco.root / "annotations", tmp_path / "annotations")
    with pytest.raises(NoPictures, match="No picture of val2017"):
        choose_pictures(sample.log, TrainChannel(tmp_path))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "not whole"),
        ('{"split": "val2017", "step": 1, "detections": [{"image_id": 1,', "not whole"),
        ('{"step": 1, "detections": []}', "not whole"),
        ('{"split": "val2017", "detections": [{"score": 1}]}', "not in COCO's form"),
        ('{"split": "val2017", "detections": [1]}', "not in COCO's form"),
    ],
)
def test_broken_predictions_are_said(sample: Any, coco: TrainChannel, text: str, said: str):
    sample.log.predictions.write_text(text, encoding="utf-8")
    with pytest.raises(NoPictures, match=said):
        choose_pictures(sample.log, coco)


@pytest.mark.parametrize(
    "change",
    [
        {"annotations": [3]},
        {"images": [3]},
        {"categories": [3]},
        {"images": [{"id": float("inf"), "file_name": "x", "width": 1, "height": 1}]},
        {"annotations": None},
    ],
)
def test_annotations_of_another_form_are_said(
    sample: Any, coco: TrainChannel, tmp_path: Path, change: dict[str, Any]
):
    sample.write_predictions()
    shutil.copytree(coco.root, tmp_path / "coco")
    data = TrainChannel(tmp_path / "coco")
    file = data.annotations("val2017")
    annotations = json.loads(file.read_text(encoding="utf-8"))
    file.write_text(json.dumps(annotations | change), encoding="utf-8")
    with pytest.raises(NoPictures, match=r"not in COCO's form|No picture of"):
        choose_pictures(sample.log, data)


@pytest.mark.parametrize("name", ["../secret.jpg", "/etc/passwd", "a/../../secret.jpg"])
def test_a_picture_outside_of_its_folder_is_never_read(sample: Any, tmp_path: Path, name: str):
    data = TrainChannel(tmp_path / "data")
    data.images("val2017").mkdir(parents=True)
    data.annotations("val2017").parent.mkdir()
    (tmp_path / "data" / "secret.jpg").write_bytes(b"secret")
    annotations = {
        "images": [{"id": 1, "file_name": name, "width": 4, "height": 4}],
        "annotations": [{"id": 1, "image_id": 1, "category_id": 1, "segmentation": []}],
        "categories": [{"id": 1, "name": "thing"}],
    }
    data.annotations("val2017").write_text(json.dumps(annotations), encoding="utf-8")
    write(sample.log, {"split": "val2017", "step": 1, "detections": []})
    with pytest.raises(NoPictures, match="No picture"):
        choose_pictures(sample.log, data)


def write(log: LogChannel, document: Any) -> None:
    log.predictions.write_text(json.dumps(document), encoding="utf-8")
