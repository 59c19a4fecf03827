"""The table of classes, the curves and the confusion, from one made-up evaluation."""

from typing import Any
from xml.etree import ElementTree

import pytest

from tests.training.report.conftest import evaluation_document
from training.report.by_class import by_class
from training.report.classes import class_table
from training.report.confusion import Cell, confusion
from training.report.evaluation import Evaluation
from training.report.precision_recall import precision_recall

SVG = "{http://www.w3.org/2000/svg}"


def make(*names: str, **changes: Any) -> Evaluation:
    categories = [{"id": 10 * at, "name": name} for at, name in enumerate(names, start=1)]
    document = evaluation_document(categories, [1, 2])
    return Evaluation.model_validate(document | {"split": "val2017", "step": 40} | changes)


def many(classes: int, **changes: Any) -> Evaluation:
    return make(*(f"thing {at}" for at in range(1, classes + 1)), **changes)


def test_classes_are_sorted_by_the_precision_of_masks_and_those_without_objects_are_last():
    table = class_table(make("cat", "dog", "cow"))
    assert table.groups == ("Masks", "Boxes")
    assert [(row.name, row.objects) for row in table.rows] == [
        ("cat", 100),
        ("dog", 99),
        ("cow", 0),
    ]
    assert table.rows[1].averages == pytest.approx(
        (0.396, 0.792, 0.4752, 0.4455, 0.891, 0.5346), abs=1e-6
    )
    assert table.rows[2].averages == (None,) * 6


def test_found_and_correct_are_shares_of_objects_and_of_detections():
    rows = class_table(make("cat", "dog", "cow")).rows
    # 50 of 100 cats are found. 56 are called cats: 5 are nothing, one is a dog.
    assert (rows[0].found, rows[0].correct) == (0.5, 50 / 56)
    assert (rows[2].found, rows[2].correct) == (None, None)


def test_without_masks_boxes_alone_are_shown():
    evaluation = make("cat", "dog")
    boxes = {"bbox": evaluation.curves["bbox"]}
    matching = {"kind": "bbox", "min_score": 0.5, "min_iou": 0.5}
    evaluation = make("cat", "dog", curves=boxes, matching=matching)
    assert class_table(evaluation).groups == ("Boxes",)
    assert len(class_table(evaluation).rows[0].averages) == 3
    curves = precision_recall(evaluation)
    assert curves is not None
    assert curves.figures[0].legend == ("boxes, IoU=0.5", "boxes, IoU=0.75")
    shown = confusion(evaluation)
    assert shown is not None
    assert "whose boxes they overlap" in shown.lead


def test_a_table_of_thousands_is_cut(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("training.report.classes.MOST_ROWS", 3)
    table = class_table(many(5))
    assert ([row.name for row in table.rows], table.left_out) == (
        ["thing 1", "thing 2", "thing 3"],
        2,
    )


def test_the_mean_curve_is_that_of_the_classes_with_objects():
    curves = precision_recall(make("cat", "dog", "cow"))
    assert curves is not None
    mean, each = curves.figures
    assert mean.legend == tuple(
        f"{kind}, {of}" for kind in ("masks", "boxes") for of in ("IoU=0.5", "IoU=0.75")
    )
    assert (each.title, each.legend) == ("Each class: masks, IoU=0.5", ("cat", "dog"))
    # (0.8 + 0.792) / 2, falling to nothing.
    columns = dict(
        zip(
            curves.values.columns,
            zip(*(v for _, v in curves.values.rows), strict=True),
            strict=True,
        )
    )
    assert columns["masks, IoU=0.5"][0] == "0.796"
    assert columns["masks, IoU=0.5"][5] == "0.398"
    assert columns["dog"][:2] == ("0.792", "0.713")
    assert [recall for recall, _ in curves.values.rows][::5] == ["0.0", "0.5", "1.0"]


def test_curves_are_drawn_from_recall_0_to_1_in_a_square_of_0_to_1():
    curves = precision_recall(make("cat", "dog"))
    assert curves is not None
    svg = ElementTree.fromstring(str(curves.figures[0].svg))
    line = next(svg.iter(f"{SVG}polyline")).attrib["points"].split()
    places = [tuple(map(float, pair.split(","))) for pair in line]
    # Precision 0.8 at recall 0, nothing at recall 1.
    assert places[0] == pytest.approx((58, 192 - 0.8 * 182), abs=0.1)
    assert places[-1] == pytest.approx((390, 192), abs=0.1)
    told = svg.attrib["aria-label"]
    assert told.startswith("Precision over recall. Mean of all classes. masks, IoU=0.5: 0.80 at")
    assert "0.40 at recall 0.5" in told
    titles = [title.text for title in svg.iter(f"{SVG}title")]
    assert len(titles) == 60
    assert titles[0] is not None
    assert titles[0].startswith("recall 0.01\nmasks, IoU=0.5: 0.79")


def test_level_parts_of_a_curve_take_two_points():
    level = [1.0] * 51 + [0.5] * 50
    evaluation = make("cat", curves={"segm": {"IoU=0.5": [level]}})
    curves = precision_recall(evaluation)
    assert curves is not None
    assert len(curves.figures) == 1
    svg = ElementTree.fromstring(str(curves.figures[0].svg))
    assert len(next(svg.iter(f"{SVG}polyline")).attrib["points"].split()) == 4


def test_each_class_with_objects_has_a_chart_of_its_own(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("training.report.precision_recall.SMALL_CHARTS", 10)
    curves = precision_recall(many(13))
    assert curves is not None
    assert curves.figures[1].title == "Most frequent classes: masks, IoU=0.5"
    assert len(curves.figures[1].legend) == 8
    assert (len(curves.classes), curves.left_out) == (10, 2)
    assert curves.classes[1].title == "thing 2 (99 objects)"
    assert curves.classes[1].legend == ("IoU=0.5", "IoU=0.75")


def test_without_any_object_there_are_no_curves():
    assert precision_recall(make("cat")) is None


def test_the_most_frequent_confusions_are_listed_first():
    shown = confusion(many(30))
    assert shown is not None
    first, second, *_ = shown.mistakes
    # The 29th class is taken for the 28th 28 times; it has 72 objects.
    assert (first.true, first.predicted, first.count) == ("thing 29", "thing 28", 28)
    assert first.share == pytest.approx(28 / 72)
    assert second.count == 27
    assert (len(shown.mistakes), shown.further) == (15, 13)
    assert shown.lead.startswith("Of 2 pictures of val2017: detections with a score of 0.5 or more")


def test_the_matrix_of_few_classes_has_all_of_them():
    shown = confusion(make("cat", "dog", "cow"))
    assert shown is not None
    matrix = shown.matrix
    assert matrix.columns == ("cat", "dog", "cow", "missed")
    assert {name: [cell.count for cell in cells] for name, cells in matrix.rows} == {
        "cat": [50, 0, 0, 10],
        "dog": [1, 49, 0, 10],
        "cow": [0, 0, 0, 0],
        "nothing there": [5, 6, 0, 0],
    }
    assert matrix.rows[1][1][1] == Cell(49, 49 / 60, is_right=True)
    assert not matrix.rows[1][1][0].is_right
    assert matrix.left_out == 0


def test_the_matrix_of_many_classes_has_those_that_are_mixed_up_most():
    shown = confusion(many(80))
    assert shown is not None
    matrix = shown.matrix
    assert matrix.columns == (*(f"thing {at}" for at in range(59, 79)), "other class", "missed")
    assert len(matrix.rows) == 21
    assert matrix.left_out == 60
    first = dict(matrix.rows)["thing 59"]
    # Taken for the class before it, which has no column.
    assert first[-2].count == 58
    assert first[0].is_right
    # The first 58 classes, and the 79th, which nothing is taken for.
    assert dict(matrix.rows)["nothing there"][-2].count == sum(5 + at for at in (*range(58), 78))


def test_nothing_there_and_nothing_detected_is_no_confusion():
    assert confusion(make("cat", confusion=[])) is None


def test_categories_that_nobody_named_have_their_number():
    shown = confusion(make("cat", "dog", confusion=[[10, 77, 3]]))
    assert shown is not None
    assert shown.mistakes[0].predicted == "category 77"
    assert dict(shown.matrix.rows)["cat"][-2].count == 0


def test_a_log_without_the_file_shows_nothing(sample: Any):
    parts = by_class(sample.log, None)
    assert (parts.evaluation, parts.table, parts.curves, parts.confusion) == (None,) * 4
    assert parts.problem is None
    sample.log.evaluation.write_text("{")
    assert by_class(sample.log, None).problem == "evaluation.json cannot be read or is not whole."
