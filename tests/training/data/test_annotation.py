from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pycocotools import mask as coco_mask

from training.data.annotation import problems_of_annotation

FRAMES = {1: (40, 30)}
SOUND = {
    "id": 7,
    "image_id": 1,
    "category_id": 3,
    "bbox": [2.5, 3, 10, 8],
    "area": 80.0,
    "iscrowd": 0,
    "segmentation": [[2, 3, 12, 3, 12, 11]],
}
FULL_RLE = {"size": [30, 40], "counts": [100, 1100]}
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=6),
    lambda inner: (
        st.lists(inner, max_size=8) | st.dictionaries(st.sampled_from(["size", "counts"]), inner)
    ),
    max_leaves=12,
)


def codes(**changes: Any) -> list[str]:
    return [
        rule.code
        for rule, _ in problems_of_annotation({**SOUND, **changes}, FRAMES, frozenset({3}))
    ]


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"bbox": [-0.9, -0.9, 41.5, 31.5]},
        {"bbox": [0, 0, 0.01, 0.01]},
        {"segmentation": FULL_RLE, "iscrowd": 1},
        {"area": 0},
        {"extra": "key"},
    ],
    ids=["plain", "COCO's own overflow", "tiny", "crowd", "no area told", "unknown key"],
)
def test_sound_annotations_have_no_problem(changes: dict[str, Any]) -> None:
    assert codes(**changes) == []


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"bbox": [5, 5, 0, 8]}, "annotation-box-empty"),
        ({"bbox": [5, 5, 8, -1]}, "annotation-box-empty"),
        ({"bbox": [-1.1, 0, 10, 10]}, "annotation-box-outside"),
        ({"bbox": [0, -2, 10, 10]}, "annotation-box-outside"),
        ({"bbox": [35, 0, 6.1, 10]}, "annotation-box-outside"),
        ({"bbox": [0, 25, 10, 6.1]}, "annotation-box-outside"),
        ({"bbox": [1, 2, 3]}, "annotation-malformed"),
        ({"bbox": [1, 2, 3, "4"]}, "annotation-malformed"),
        ({"bbox": [1, 2, 3, True]}, "annotation-malformed"),
        ({"bbox": [1, 2, 3, float("nan")]}, "annotation-malformed"),
        ({"bbox": [1, 2, 3, float("inf")]}, "annotation-malformed"),
        ({"bbox": None}, "annotation-malformed"),
        ({"category_id": 4}, "annotation-category-unknown"),
        ({"category_id": "3"}, "annotation-malformed"),
        ({"image_id": 9}, "annotation-image-unknown"),
        ({"image_id": None}, "annotation-malformed"),
        ({"iscrowd": 2}, "annotation-malformed"),
        ({"iscrowd": None}, "annotation-malformed"),
        ({"area": -1}, "annotation-malformed"),
        ({"area": "80"}, "annotation-malformed"),
        ({"segmentation": []}, "annotation-segmentation-empty"),
        ({"segmentation": None}, "annotation-segmentation-empty"),
        ({"segmentation": "mask"}, "annotation-segmentation-empty"),
        ({"segmentation": [[]]}, "annotation-polygon"),
        ({"segmentation": [[1, 1, 5, 5]]}, "annotation-polygon"),
        ({"segmentation": [[1, 1, 5, 5], [2, 3, 12, 3, 12, 11]]}, "annotation-polygon-left-out"),
        ({"segmentation": [[1, 1, 5, 5, 9, 1, 4]]}, "annotation-polygon"),
        ({"segmentation": [[1, 1, 5, 5, 9, None]]}, "annotation-polygon"),
        ({"segmentation": [1, 1, 5, 5, 9, 1]}, "annotation-polygon"),
        ({"segmentation": {"size": [40, 30], "counts": [1200]}}, "annotation-rle"),
        ({"segmentation": {"size": [30, 40], "counts": [1199]}}, "annotation-rle"),
        ({"segmentation": {"size": [30, 40], "counts": [1300, -100]}}, "annotation-rle"),
        ({"segmentation": {"size": [30, 40], "counts": []}}, "annotation-rle"),
        ({"segmentation": {"size": [30, 40], "counts": "o"}}, "annotation-rle"),
        ({"segmentation": {"size": [30, 40], "counts": "é"}}, "annotation-rle"),
        ({"segmentation": {"size": [30, 40]}}, "annotation-rle"),
        ({"segmentation": {"counts": [1200]}}, "annotation-rle"),
        ({"segmentation": {"size": [30, 40], "counts": "o" * 100_000}}, "annotation-rle"),
        ({"segmentation": {"size": [30, 40], "counts": [9 * 10**4299] * 9}}, "annotation-rle"),
        ({"segmentation": FULL_RLE}, "annotation-rle-object"),
        ({"segmentation": [[1e9, 3, 12, 3, 12, 11]]}, "annotation-polygon"),
        ({"segmentation": [[2, -50, 12, 3, 12, 11]]}, "annotation-polygon"),
        ({"bbox": [40, 5, 8, 8]}, "annotation-box-off"),
        ({"bbox": [5, -8, 8, 8]}, "annotation-box-off"),
        ({"bbox": [-8, 5, 8.00001, 8]}, "annotation-box-off"),
        ({"bbox": [5, 5, 1e-6, 8]}, "annotation-box-empty"),
    ],
)
def test_each_fault_is_the_one_problem_of_its_code(changes: dict[str, Any], code: str) -> None:
    assert codes(**changes) == [code]


@given(st.integers(1, 40), st.integers(1, 40), st.integers(0, 2**32 - 1))
def test_compressed_run_lengths_of_pycocotools_fit_their_picture(
    height: int, width: int, seed: int
) -> None:
    mask = np.random.default_rng(seed).random((height, width)) < 0.5
    rle = coco_mask.encode(np.asfortranarray(mask, np.uint8))
    segmentation = {"size": [height, width], "counts": rle["counts"].decode()}
    annotation = {**SOUND, "bbox": [0, 0, 1, 1], "segmentation": segmentation, "iscrowd": 1}
    assert problems_of_annotation(annotation, {1: (width, height)}, {3}) == []


@given(st.dictionaries(st.sampled_from(sorted(SOUND)), JSON))
def test_any_values_are_judged_and_never_a_traceback(changes: dict[str, Any]) -> None:
    problems = problems_of_annotation({**SOUND, **changes}, FRAMES, frozenset({3}))
    assert all(detail and len(detail) < 400 for _, detail in problems)


@pytest.mark.parametrize("key", ["iscrowd", "area"])
def test_an_absent_crowd_flag_or_area_is_no_error(key: str) -> None:
    annotation = {name: value for name, value in SOUND.items() if name != key}
    ((rule, _),) = problems_of_annotation(annotation, FRAMES, {3})
    assert (rule.code, rule.severity) == ("annotation-incomplete", "warning")


def test_all_problems_of_one_annotation_are_told() -> None:
    assert codes(category_id=4, bbox=[0, 0, 0, 0], segmentation=[]) == [
        "annotation-category-unknown",
        "annotation-box-empty",
        "annotation-segmentation-empty",
    ]
