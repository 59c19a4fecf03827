from __future__ import annotations

from typing import Any

import pytest

from training.data.census import Census, ClassCount, Size, area_of, size_of


@pytest.mark.parametrize(
    ("area", "size"),
    [(0, "small"), (1023.9, "small"), (1024, "medium"), (9215.9, "medium"), (9216, "large")],
)
def test_sizes_are_those_of_cocos_evaluation(area: float, size: Size) -> None:
    assert size_of(area) == size


def test_an_area_that_is_not_told_is_that_of_the_box() -> None:
    assert area_of({"bbox": [1, 2, 3, 4]}) == 12
    assert area_of({"bbox": [1, 2, 3, 4], "area": 5}) == 5


def annotation(category_id: int, image_id: int, area: float, iscrowd: int = 0) -> dict[str, Any]:
    return {
        "category_id": category_id,
        "image_id": image_id,
        "area": area,
        "iscrowd": iscrowd,
    }


def test_objects_are_counted_by_class_and_size_and_crowds_apart() -> None:
    census = Census()
    for one in (
        annotation(3, 1, 10),
        annotation(3, 1, 2000),
        annotation(3, 2, 50_000),
        annotation(3, 4, 50_000, iscrowd=1),
        annotation(7, 2, 10),
    ):
        census.count(one)
    assert (census.objects, census.crowds, census.image_ids) == (4, 1, {1, 2})
    assert census.used_ids() == {3: 4, 7: 1}
    assert census.classes({7: "dog", 3: "cat", 9: "cow"}) == (
        ClassCount(3, "cat", objects=3, small=1, medium=1, large=1, crowds=1, pictures=3),
        ClassCount(7, "dog", objects=1, small=1, medium=0, large=0, crowds=0, pictures=1),
        ClassCount(9, "cow", objects=0, small=0, medium=0, large=0, crowds=0, pictures=0),
    )
