from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from training.errors import JobFailed
from training.maskrcnn.data.coco import read_split
from training.maskrcnn.data.collection import read_collection

Annotation = Callable[..., dict[str, Any]]


def test_labels_go_by_rising_category_id(coco_set: Any, annotation: Annotation) -> None:
    channel = coco_set.write([annotation(category_id=7), annotation(category_id=3)])
    split = read_split(channel, "train2017")
    assert split.records[0].labels.tolist() == [2, 1]
    assert dict(split.categories) == {3: "cat", 7: "dog"}


def test_a_box_is_cut_at_the_frame(coco_set: Any, annotation: Annotation) -> None:
    channel = coco_set.write([annotation(bbox=[-2, 15, 50, 9.5])])
    (record, _) = read_split(channel, "train2017").records
    assert record.boxes.tolist() == [[0, 15, 40, 20]]


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"bbox": [10, 5, 0, 8]}, "has no area"),
        ({"bbox": [10, 5, -3, 8]}, "has no area"),
        ({"bbox": [41, 5, 8, 8]}, "lies outside of the picture, bbox [41, 5, 8, 8]"),
        ({"bbox": [10, -9, 8, 9]}, "in a picture of 40 x 20"),
        ({"bbox": [10, 5, 8]}, "of the wrong kind, bbox [10, 5, 8]"),
        ({"bbox": [10, 5, float("nan"), 8]}, "bbox [10, 5, nan, 8]"),
        ({"bbox": None}, "bbox None"),
        ({"category_id": 4}, "its category is not in the file, category_id 4"),
        ({"image_id": 99}, "its image is not in the file"),
        ({"segmentation": []}, "it has no mask"),
        ({"segmentation": [[1, 2, 3, 4]]}, "no polygon of 3 points or more"),
        ({"segmentation": [[1, 2, 3, 4, 5, "x"]]}, "segmentation[0]"),
        (
            {"segmentation": {"size": [20, 41], "counts": [800]}},
            "its RLE mask does not fit the picture, size [20, 41]",
        ),
    ],
)
def test_a_bad_annotation_is_left_out_and_told(
    coco_set: Any, annotation: Annotation, changes: dict[str, Any], reason: str
) -> None:
    channel = coco_set.write([annotation(id=8, **changes), annotation(id=9)])
    split = read_split(channel, "train2017")
    assert [len(record.labels) for record in split.records] == [1, 0]
    (told,) = split.skipped
    assert told.startswith("annotation 8 of image ")
    assert reason in told


@pytest.mark.parametrize(
    "changes",
    [
        {"segmentation": 5},
        {"segmentation": True},
        {"area": None},
        {"area": "large"},
        {"area": 10**400},
        {"bbox": [10**400, 1, 1, 1]},
        {"bbox": None},
        {"image_id": [1]},
        {"category_id": {}},
    ],
)
def test_whatever_stands_in_an_annotation_it_is_skipped_with_its_place(
    coco_set: Any, annotation: Annotation, changes: dict[str, Any]
) -> None:
    channel = coco_set.write([annotation(id=1), annotation(id=8, **changes)])
    split = read_split(channel, "train2017")
    assert sum(len(record.labels) for record in split.records) == 1
    (told,) = split.skipped
    assert told.startswith("annotation 8 of image ")
    assert "annotations[1]: " in told


def test_bad_annotations_stop_the_run_unless_the_user_lets_them_be_skipped(
    coco_set: Any, annotation: Annotation, tiny: Any
) -> None:
    channel = coco_set.write([annotation(), annotation(id=8, bbox=[10, 5, 0, 8])])
    skipping = tiny(data_val="train2017", bad_annotations="skip")
    assert "1 annotations cannot be used" in read_collection(channel, skipping).notes[0]
    with pytest.raises(JobFailed, match="annotation 8 of image 1"):
        read_collection(channel, tiny(data_val="train2017"))


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("{oops", "is not JSON"),
        ("[]", "it is a list, not an object"),
        ('{"images": []}', "annotations and categories must be a list"),
        (
            '{"images": [{"id": 1}], "annotations": [], "categories": []}',
            "entries of images without a proper id",
        ),
        (
            '{"images": ['
            '{"id": 1, "file_name": "1.jpg", "width": 4, "height": 4}, '
            '{"id": 1, "file_name": "2.jpg", "width": 4, "height": 4}'
            '], "annotations": [], "categories": []}',
            r"id 1 at images\[0\] and \[1\]",
        ),
    ],
)
def test_a_file_that_is_not_coco_is_one_clear_error(
    coco_set: Any, content: str, message: str
) -> None:
    channel = coco_set.write([])
    channel.annotations("train2017").write_text(content, encoding="utf-8")
    with pytest.raises(JobFailed, match=message) as failed:
        read_split(channel, "train2017")
    assert "instances_train2017.json" in str(failed.value)


def test_a_missing_annotation_file_is_named(coco_set: Any) -> None:
    channel = coco_set.write([])
    with pytest.raises(
        JobFailed, match=r"instances_val2017\.json: there is no such annotation file"
    ):
        read_split(channel, "val2017")


def test_missing_pictures_are_counted_before_training(coco_set: Any) -> None:
    channel = coco_set.write([], pictures=3)
    (channel.images("train2017") / "2.jpg").unlink()
    with pytest.raises(JobFailed, match=r"1 of 3 pictures are missing, the first is 2\.jpg"):
        read_split(channel, "train2017")


def test_splits_with_other_categories_are_refused(
    coco_set: Any, annotation: Annotation, tiny: Any
) -> None:
    coco_set.write([annotation()])
    channel = coco_set.write([], split="val2017", categories={3: "cat", 7: "wolf"})
    with pytest.raises(JobFailed, match="different categories"):
        read_collection(channel, tiny())


def test_pictures_without_objects_are_trained_on_only_if_asked(
    coco_set: Any, annotation: Annotation, tiny: Any
) -> None:
    crowd = {"size": [20, 40], "counts": [0, 800]}
    channel = coco_set.write(
        [annotation(), annotation(image_id=2, iscrowd=1, segmentation=crowd)], pictures=3
    )
    skipping = read_collection(channel, tiny(data_val="train2017"))
    assert [record.image_id for record in skipping.train] == [1]
    keeping = read_collection(channel, tiny(data_val="train2017", empty_pictures="train"))
    assert [record.image_id for record in keeping.train] == [1, 2, 3]


def test_data_without_any_object_is_refused(coco_set: Any, tiny: Any) -> None:
    with pytest.raises(JobFailed, match="no picture to train on in train2017"):
        read_collection(coco_set.write([]), tiny(data_val="train2017"))


def test_several_splits_are_trained_on_together(
    coco_set: Any, annotation: Annotation, tiny: Any
) -> None:
    coco_set.write([annotation()])
    channel = coco_set.write([annotation()], split="val2017")
    data = read_collection(channel, tiny(data_train="train2017,val2017"))
    assert [record.file.parent.name for record in data.train] == ["train2017", "val2017"]


def test_outlines_survive_reading(coco_set: Any, annotation: Annotation) -> None:
    channel = coco_set.write([annotation()])
    (record, _) = read_split(channel, "train2017").records
    assert json.loads(json.dumps(record.outlines())) == [annotation()["segmentation"]]
