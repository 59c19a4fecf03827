import json
from typing import Any

import pytest

from training.report.evaluation import BadEvaluation, read_evaluation


def test_what_the_file_says_is_read(sample: Any):
    sample.write_evaluation()
    evaluation = read_evaluation(sample.log)
    assert evaluation is not None
    assert (evaluation.split, evaluation.step, len(evaluation.categories)) == ("val2017", 40, 80)
    assert evaluation.kinds == ("segm", "bbox")
    assert evaluation.categories[1].ap["segm"]["IoU=0.5"] == pytest.approx(0.792)
    assert evaluation.curves["bbox"]["IoU=0.75"][79] is None
    assert evaluation.confusion[0] == (1, 1, 50)


def test_no_file_is_no_evaluation(sample: Any):
    assert read_evaluation(sample.log) is None


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"version": 2}, "is of version 2, and this report knows version 1 only"),
        ({"version": "new"}, "is not as expected: version: "),
        ({"categories": []}, "curves are not one for each category"),
        ({"curves": {"segm": {}}}, "a kind has no curves"),
        ({"curves": {"segm": {"IoU=0.5": [[1.0] * 100]}}}, "at least 101 items"),
        ({"curves": {"keypoints": {}}}, "curves.keypoints"),
        ({"best": "all"}, "best: "),
        ({"confusion": [[1, 2, -1]]}, "confusion.0.2: "),
        (
            {"pictures": {"ids": [1], "right": [], "wrong": [], "missed": [], "f1": []}},
            "numbers are not one for each picture",
        ),
    ],
)
def test_a_file_that_is_not_as_promised_is_told(sample: Any, changes: dict[str, Any], said: str):
    sample.write_evaluation(**changes)
    with pytest.raises(BadEvaluation, match=r"evaluation\.json") as raised:
        read_evaluation(sample.log)
    assert said in str(raised.value)


@pytest.mark.parametrize("content", [b"", b"{", b"\xff\xfe", b"[" * 100_000])
def test_a_file_that_is_not_whole_is_told(sample: Any, content: bytes):
    sample.log.evaluation.write_bytes(content)
    with pytest.raises(BadEvaluation, match="not whole"):
        read_evaluation(sample.log)


def test_numbers_that_are_none_are_told(sample: Any):
    sample.write_evaluation()
    document = json.loads(sample.log.evaluation.read_text())
    document["categories"][0]["ap"]["segm"]["IoU=0.5"] = float("nan")
    sample.log.evaluation.write_text(json.dumps(document))
    with pytest.raises(BadEvaluation, match=r"categories\.0\.ap\.segm"):
        read_evaluation(sample.log)
