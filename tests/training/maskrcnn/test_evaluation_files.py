from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from training.errors import JobFailed
from training.maskrcnn import evaluation_files
from training.maskrcnn.coco_eval import compare
from training.maskrcnn.data.coco import Split, read_split
from training.maskrcnn.evaluate import Evaluation
from training.maskrcnn.evaluation_files import extremes, write_evaluation, write_predictions
from training.maskrcnn.found import Found
from training.maskrcnn.matches import Matches, match

SQUARE = [10, 5, 8, 8]


def box(image_id: int, category_id: int = 3, score: float = 0.9) -> dict[str, Any]:
    return {"image_id": image_id, "category_id": category_id, "score": score, "bbox": SQUARE}


@pytest.fixture
def split(coco_set: Any, annotation: Callable[..., dict[str, Any]]) -> Split:
    """A cat on each of the first two of three pictures."""
    cats = [annotation(), annotation(id=2, image_id=2)]
    return read_split(coco_set.write(cats, pictures=3), "train2017")


def evaluation(split: Split, detections: list[dict[str, Any]]) -> Evaluation:
    found = Found.from_coco(detections, with_masks=False)
    return Evaluation(
        comparison=compare(split.records, split.categories, found, kinds=("bbox",)),
        judged_by="bbox",
        matches=match(split.records, split.categories, found, kind="bbox"),
        detections=found,
        broken=(),
    )


def test_the_file_holds_what_the_layout_promises(split: Split, tmp_path: Path) -> None:
    path = tmp_path / "evaluation.json"
    result = evaluation(split, [box(1), box(2, category_id=7), box(3)])
    write_evaluation(path, split, result, step=8)
    document = json.loads(path.read_text())
    curve = document.pop("curves")["bbox"]["IoU=0.75"]
    # Three cats are detected, two with the same score; the first one and the third one are cats.
    cats = {
        name: pytest.approx(result.metrics[f"mAP(bbox)/{name}"], abs=1e-6)
        for name in ("IoU=0.5:0.95", "IoU=0.5", "IoU=0.75")
    }
    assert document == {
        "version": 1,
        "split": "train2017",
        "step": 8,
        "categories": [
            {"id": 3, "name": "cat", "objects": 2, "ap": {"bbox": cats}},
            {"id": 7, "name": "dog", "objects": 0, "ap": {"bbox": dict.fromkeys(cats)}},
        ],
        "matching": {"kind": "bbox", "min_score": 0.5, "min_iou": 0.5},
        "confusion": [[3, 3, 1], [3, 7, 1], [None, 3, 1]],
        "pictures": {
            "ids": [1, 2, 3],
            "right": [1, 0, 0],
            "wrong": [0, 1, 1],
            "missed": [0, 1, 0],
            "f1": [1, 0, None],
        },
        "best": [1],
        "worst": [2],
    }
    assert (len(curve[0]), curve[0][0], curve[0][100], curve[1]) == (101, 1, 0, None)


def test_a_disk_that_is_full_is_one_clear_error(split: Split, tmp_path: Path) -> None:
    with pytest.raises(JobFailed, match=r"evaluation\.json: cannot be written"):
        write_evaluation(
            tmp_path / "none" / "evaluation.json", split, evaluation(split, []), step=1
        )


def matches(*pictures: tuple[int, int, int]) -> Matches:
    """Return pictures of right, wrong and missed; their ids are 1, 2, ..."""
    numbers = np.array(pictures, np.int64).reshape(-1, 3)
    return Matches(
        image_ids=np.arange(1, len(numbers) + 1),
        right=numbers[:, 0],
        wrong=numbers[:, 1],
        missed=numbers[:, 2],
        confusion=np.zeros((2, 2), np.int64),
    )


@pytest.mark.parametrize(
    ("pictures", "best", "worst"),
    [
        ([], [], []),
        ([(0, 3, 0)], [], []),
        ([(1, 0, 0)], [1], []),
        ([(1, 0, 0), (5, 0, 0)], [2, 1], []),
        ([(0, 1, 1), (0, 1, 1)], [], [1, 2]),
        # As bad, but with more faults; as good, but with more objects.
        ([(0, 0, 1), (3, 1, 1), (0, 4, 5), (1, 0, 0), (7, 0, 0)], [5, 4, 2], [3, 1]),
    ],
)
def test_the_best_and_the_worst_pictures_are_named(
    pictures: list[tuple[int, int, int]], best: list[int], worst: list[int]
) -> None:
    assert extremes(matches(*pictures)) == (best, worst)


def test_no_more_are_named_than_wanted() -> None:
    best, worst = extremes(matches(*[(1, 0, at) for at in range(40)]))
    assert (best, worst) == (list(range(1, 9)), list(range(40, 32, -1)))


def test_predictions_hold_the_first_pictures_and_those_that_are_named(
    coco_set: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    split = read_split(coco_set.write([], pictures=5), "train2017")
    monkeypatch.setattr(evaluation_files, "PREDICTED_PICTURES", 2)
    detections = Found.from_coco([box(number) for number in (1, 2, 3, 2, 4)], with_masks=False)
    path = tmp_path / "predictions.json"
    write_predictions(path, split, detections, step=8, also=(4, 5, 1))
    document = json.loads(path.read_text())
    assert (document["split"], document["step"]) == ("train2017", 8)
    assert document["images"] == [1, 2, 4, 5]
    assert [d["image_id"] for d in document["detections"]] == [1, 2, 2, 4]
    # The report cuts out the detections before it reads the rest.
    assert list(document)[-1] == "detections"
