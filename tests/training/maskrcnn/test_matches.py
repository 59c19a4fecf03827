from __future__ import annotations

import contextlib
import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from pycocotools import mask as coco_mask
from pycocotools.cocoeval import COCOeval

from bench.evaluation_set import make_evaluation_set
from bench.reference_evaluation import open_truth
from training.maskrcnn.coco_eval import IouType
from training.maskrcnn.data.coco import Split, read_split, read_table
from training.maskrcnn.data.records import Records
from training.maskrcnn.data.store import LooseFiles
from training.maskrcnn.found import Detection, Found
from training.maskrcnn.matches import Matches, match

CAT, DOG = 3, 7
LEFT, RIGHT = (2, 5, 12, 15), (22, 5, 32, 15)
"""Left, top, right, bottom; far from each other."""
Box = tuple[int, int, int, int]


def rle(box: Box) -> dict[str, Any]:
    left, top, right, bottom = box
    mask = np.zeros((20, 40), np.uint8)
    mask[top:bottom, left:right] = 1
    encoded = coco_mask.encode(np.asfortranarray(mask))
    return {"size": encoded["size"], "counts": encoded["counts"].decode()}


def detection(category_id: int, box: Box, score: float = 0.9, image_id: int = 1) -> Detection:
    left, top, right, bottom = box
    return {
        "image_id": image_id,
        "category_id": category_id,
        "bbox": [left, top, right - left, bottom - top],
        "score": score,
        "segmentation": rle(box),
    }


@pytest.fixture
def make_split(coco_set: Any, annotation: Callable[..., dict[str, Any]]) -> Callable[..., Split]:
    """Make two pictures, the first with objects; `crowd` makes the last one of it a crowd."""

    def make(*objects: tuple[int, Box], crowd: bool = False) -> Split:
        annotations = []
        for number, (category_id, box) in enumerate(objects, start=1):
            left, top, right, bottom = box
            is_crowd = crowd and number == len(objects)
            annotations.append(
                annotation(
                    id=number,
                    category_id=category_id,
                    bbox=[left, top, right - left, bottom - top],
                    area=(right - left) * (bottom - top),
                    iscrowd=int(is_crowd),
                    segmentation=rle(box)
                    if is_crowd
                    else [[left, top, right, top, right, bottom, left, bottom]],
                )
            )
        return read_split(coco_set.write(annotations), "train2017")

    return make


def matched(split: Split, *detections: Detection, kind: IouType = "segm") -> Matches:
    return match(split.records, split.categories, Found.from_coco(detections), kind=kind)


def counts(matches: Matches) -> tuple[int, int, int]:
    """Return the first picture's numbers; the second has nothing."""
    assert matches.image_ids.tolist() == [1, 2]
    assert [matches.right[1], matches.wrong[1], matches.missed[1]] == [0, 0, 0]
    return int(matches.right[0]), int(matches.wrong[0]), int(matches.missed[0])


@pytest.mark.parametrize("kind", ["bbox", "segm"])
def test_right_wrong_and_missed_are_told_apart(
    make_split: Callable[..., Split], kind: IouType
) -> None:
    split = make_split((CAT, LEFT), (DOG, RIGHT))
    matches = matched(split, detection(CAT, LEFT), detection(CAT, (14, 5, 20, 15)), kind=kind)
    assert counts(matches) == (1, 1, 1)
    assert matches.confusion.tolist() == [[1, 0, 0], [0, 0, 1], [1, 0, 0]]
    assert matches.f1()[0] == pytest.approx(0.5)
    assert np.isnan(matches.f1()[1])


def test_an_object_taken_for_another_thing_is_a_confusion(make_split: Callable[..., Split]) -> None:
    matches = matched(make_split((CAT, LEFT)), detection(DOG, LEFT))
    assert counts(matches) == (0, 1, 1)
    assert matches.confusion.tolist() == [[0, 1, 0], [0, 0, 0], [0, 0, 0]]


def test_the_right_name_counts_even_where_a_wrong_one_has_a_better_score(
    make_split: Callable[..., Split],
) -> None:
    split = make_split((CAT, LEFT))
    matches = matched(split, detection(CAT, LEFT, 0.6), detection(DOG, LEFT, 0.9))
    assert counts(matches) == (1, 1, 0)
    assert matches.confusion.tolist() == [[1, 0, 0], [0, 0, 0], [0, 1, 0]]


def test_a_second_detection_of_an_object_is_of_nothing(make_split: Callable[..., Split]) -> None:
    matches = matched(make_split((CAT, LEFT)), detection(CAT, LEFT), detection(CAT, LEFT, 0.8))
    assert counts(matches) == (1, 1, 0)
    assert matches.confusion[2].tolist() == [1, 0, 0]


def test_each_detection_takes_the_object_that_it_overlaps_most(
    make_split: Callable[..., Split],
) -> None:
    near = (4, 5, 14, 15)
    split = make_split((CAT, LEFT), (CAT, near))
    # The better score would take either; the other one only fits the first.
    matches = matched(split, detection(CAT, near, 0.9), detection(CAT, (0, 5, 10, 15), 0.8))
    assert counts(matches) == (2, 0, 0)


def test_weak_detections_do_not_count(make_split: Callable[..., Split]) -> None:
    split = make_split((CAT, LEFT))
    assert counts(matched(split, detection(CAT, LEFT, 0.49))) == (0, 0, 1)
    assert counts(matched(split, detection(CAT, LEFT, 0.5))) == (1, 0, 0)


def test_half_an_overlap_is_the_least(make_split: Callable[..., Split]) -> None:
    split = make_split((CAT, LEFT))
    assert counts(matched(split, detection(CAT, (2, 5, 12, 10)))) == (1, 0, 0)
    assert counts(matched(split, detection(CAT, (2, 5, 12, 9)))) == (0, 1, 1)


def test_a_crowd_is_no_object_and_what_lies_in_it_no_mistake(
    make_split: Callable[..., Split],
) -> None:
    split = make_split((CAT, LEFT), (DOG, (20, 0, 40, 20)), crowd=True)
    matches = matched(split, detection(DOG, RIGHT), detection(CAT, RIGHT, 0.6))
    # A cat in a crowd of dogs is one.
    assert counts(matches) == (0, 1, 1)
    assert matches.confusion.tolist() == [[0, 0, 1], [0, 0, 0], [1, 0, 0]]


def test_no_picture_has_no_matches() -> None:
    empty = Matches.joined([], categories=2)
    assert empty.confusion.tolist() == [[0] * 3] * 3
    assert len(empty.image_ids) == len(empty.f1()) == 0


def test_joined_sorts_pictures_and_adds_up(make_split: Callable[..., Split]) -> None:
    one = matched(make_split((CAT, LEFT)), detection(CAT, LEFT))
    both = Matches.joined([one, one], categories=2)
    assert both.image_ids.tolist() == [1, 1, 2, 2]
    assert both.right.tolist() == [1, 1, 0, 0]
    assert both.confusion[0, 0] == 2


@pytest.mark.parametrize("kind", ["bbox", "segm"])
def test_what_is_right_is_what_pycocotools_matches_at_that_score_and_iou(
    tmp_path: Path, kind: IouType
) -> None:
    path = tmp_path / "made.json"
    made = make_evaluation_set(path, pictures=60)
    table = read_table(path)
    records = Records.of(table, LooseFiles(tmp_path))
    ours = match(records, table.categories, Found.from_coco(made), kind=kind)
    right, wrong, missed = pycocotools_counts(path, made, kind)
    pairs = zip(ours.image_ids.tolist(), ours.right.tolist(), strict=True)
    assert dict(pairs) == right
    assert ours.wrong.tolist() == list(wrong.values())
    assert ours.missed.tolist() == list(missed.values())
    # Each object and each detection has one place: no more, no less.
    objects = np.bincount(records.object_labels()[1], minlength=81)[1:]
    assert ours.confusion[:-1].sum(axis=1).tolist() == objects.tolist()
    assert ours.confusion[:, :-1].sum() == ours.right.sum() + ours.wrong.sum()
    assert ours.confusion[:-1, :-1].trace() == ours.right.sum()
    assert json.loads(path.read_text())["annotations"]


def pycocotools_counts(
    path: Path, detections: list[Detection], kind: str
) -> tuple[dict[int, int], dict[int, int], dict[int, int]]:
    """Return right, wrong and missed of each picture, read from what COCOeval matched."""
    truth = open_truth(path)
    other = "segmentation" if kind == "bbox" else "bbox"
    strong = [{k: v for k, v in d.items() if k != other} for d in detections if d["score"] >= 0.5]
    with contextlib.redirect_stdout(io.StringIO()):
        evaluation = COCOeval(truth, truth.loadRes(strong), kind)
        evaluation.params.iouThrs = np.array([0.5])
        evaluation.params.areaRng = [[0, 1e10]]
        evaluation.params.areaRngLbl = ["all"]
        evaluation.evaluate()
    ids = sorted(truth.getImgIds())
    right, wrong, missed = (dict.fromkeys(ids, 0) for _ in range(3))
    for one in evaluation.evalImgs:
        if one is not None:
            is_matched = one["dtMatches"][0] > 0
            counts = ~one["dtIgnore"][0].astype(bool)
            objects = ~one["gtIgnore"].astype(bool)
            right[one["image_id"]] += int((is_matched & counts).sum())
            wrong[one["image_id"]] += int((~is_matched & counts).sum())
            missed[one["image_id"]] += int((objects & (one["gtMatches"][0] == 0)).sum())
    return right, wrong, missed
