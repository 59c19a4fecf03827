"""Logs of TensorPack have no evaluation.json: the same is made of its detections."""

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from training.layout import LogChannel, TrainChannel
from training.report import write_report
from training.report.by_class import by_class
from training.report.evaluation import BadEvaluation
from training.report.judged import judge_outputs


@pytest.fixture
def outputs(sample: Any) -> Path:
    """What TensorPack leaves where all is detected as it is."""
    sample.write_predictions()
    detections = json.loads(sample.log.predictions.read_text(encoding="utf-8"))["detections"]
    sample.log.predictions.unlink()
    folder: Path = sample.log.checkpoints / "attempt-1"
    folder.mkdir(parents=True)
    path = folder / "val2017-outputs1500"
    path.write_text(json.dumps(detections), encoding="utf-8")
    return path


def change(path: Path, **changes: Any) -> None:
    """Change the first detection."""
    first, *others = json.loads(path.read_text())
    path.write_text(json.dumps([first | changes, *others]))


def test_its_detections_are_judged_by_class(sample: Any, coco: TrainChannel, outputs: Path):
    change(outputs, category_id=4711)
    evaluation = judge_outputs(sample.log, coco)
    assert evaluation is not None
    assert (evaluation.split, evaluation.step) == ("val2017", 1500)
    assert evaluation.kinds == ("segm", "bbox")
    glass = next(one for one in evaluation.categories if one.name == "wine glass")
    assert glass.objects == 7
    assert glass.ap["segm"]["IoU=0.5"] == pytest.approx(1)
    assert evaluation.matching.kind == "segm"
    right = {true: n for true, predicted, n in evaluation.confusion if true == predicted}
    assert right[glass.id] == 7


def test_its_report_has_the_sections(sample: Any, coco: TrainChannel, outputs: Path):
    page = write_report(sample.log, coco).read_text(encoding="utf-8")
    for text in ("Average precision of each class at step 1,500", "Best and worst pictures"):
        assert text in page


def test_without_masks_boxes_are_judged(sample: Any, coco: TrainChannel, outputs: Path):
    detections = json.loads(outputs.read_text())
    outputs.write_text(
        json.dumps([{k: v for k, v in one.items() if k != "segmentation"} for one in detections])
    )
    evaluation = judge_outputs(sample.log, coco)
    assert evaluation is not None
    assert (evaluation.kinds, evaluation.matching.kind) == (("bbox",), "bbox")


def test_without_detections_or_data_set_nothing_is_told(
    sample: Any, coco: TrainChannel, outputs: Path, tmp_path: Path
):
    assert judge_outputs(sample.log, None) is None
    outputs.unlink()
    assert judge_outputs(sample.log, coco) is None
    assert by_class(LogChannel(tmp_path / "absent"), coco).problem is None


def test_our_own_detections_of_some_pictures_are_not_judged(
    sample: Any, coco: TrainChannel, outputs: Path
):
    sample.write_predictions()
    assert by_class(sample.log, coco).table is None


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("[", "cannot be read"),
        ('[{"score": 1}]', "not in COCO's result format"),
        (
            '[{"image_id": "x", "category_id": 1, "bbox": [1, 2, 3, 4], "score": 1}]',
            "not in COCO's result format",
        ),
    ],
)
def test_detections_that_cannot_be_judged_are_told(
    sample: Any, coco: TrainChannel, outputs: Path, content: str, said: str
):
    outputs.write_text(content)
    told = by_class(sample.log, coco).problem
    assert told is not None
    assert told.startswith("Nothing is told by class: ")
    assert said in told


def test_masks_of_another_size_find_nothing(sample: Any, coco: TrainChannel, outputs: Path):
    change(outputs, segmentation={"size": [2, 2], "counts": "04"}, score=1.0)
    evaluation = judge_outputs(sample.log, coco)
    assert evaluation is not None
    assert (sum(evaluation.pictures.wrong), sum(evaluation.pictures.missed)) == (1, 1)


@pytest.mark.parametrize("counts", [5, "é", None])
def test_masks_that_are_none_are_told(
    sample: Any, coco: TrainChannel, outputs: Path, counts: object
):
    change(outputs, segmentation={"size": [2, 2], "counts": counts})
    with pytest.raises(BadEvaluation, match="not in COCO's result format"):
        judge_outputs(sample.log, coco)


def test_a_data_set_that_is_not_there_is_told(sample: Any, outputs: Path, tmp_path: Path):
    with pytest.raises(BadEvaluation, match=r"instances_val2017\.json"):
        judge_outputs(sample.log, TrainChannel(tmp_path))


def test_a_launcher_without_the_trainer_says_what_it_lacks(
    sample: Any, coco: TrainChannel, outputs: Path, monkeypatch: pytest.MonkeyPatch
):
    for name in [name for name in sys.modules if name.startswith("training.maskrcnn")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "hotcoco", None)
    with pytest.raises(BadEvaluation, match="hotcoco is not installed"):
        judge_outputs(sample.log, coco)
    assert "hotcoco is not installed" in write_report(sample.log, coco).read_text(encoding="utf-8")
