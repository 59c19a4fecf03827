from __future__ import annotations

import math
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from training.maskrcnn.data.table import FLOATS, HUNDREDTHS, Table
from training.maskrcnn.data.table_builder import TableBuilder

coordinates = st.one_of(
    st.integers(0, 65_535).map(lambda hundredths: hundredths / 100),
    st.integers(-300, 2000),
    st.floats(-1e6, 1e6, allow_nan=False),
)
polygons = st.lists(
    st.lists(st.tuples(coordinates, coordinates), min_size=3, max_size=7).map(
        lambda points: [side for point in points for side in point]
    ),
    min_size=1,
    max_size=3,
)
encodings = st.one_of(
    st.text("0123456789ab`~", min_size=1, max_size=30),
    st.lists(st.integers(0, 10**9), min_size=1, max_size=9),
).map(lambda counts: {"size": [20, 40], "counts": counts})
outlines = st.lists(st.one_of(polygons, encodings), max_size=5)


def build(pictures: list[list[Any]]) -> Table:
    builder = TableBuilder()
    for number, found in enumerate(pictures):
        builder.add_picture(number, f"{number}.jpg", (40, 20))
        for outline in found:
            builder.add_annotation((1, 2, 3.5, 4), 1, False, 7.25, outline)
    return builder.build({3: "cat"}, ["annotation 8 ..."])


@given(st.lists(outlines, max_size=4))
def test_outlines_come_back_to_the_last_digit(pictures: list[list[Any]]) -> None:
    table = build(pictures)
    assert [table.outlines(row) for row in range(len(pictures))] == pictures


def test_outlines_come_back_whatever_the_chunks_are(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("training.maskrcnn.data.table_builder.CHUNK", 2)
    some = [[1.25, 2, 3, 4, 5, 6]], {"size": [20, 40], "counts": "abc"}, [[1 / 3, 2, 3, 4, 5, 6]]
    pictures = [[*some, *some], [], [*some]]
    table = build(pictures)
    assert [table.outlines(row) for row in range(3)] == pictures


def test_coordinates_of_two_decimals_take_two_bytes() -> None:
    table = build([[[[0.01, 655.35, 3.3, 4, 5, 6.07]]], [[[1 / 3, 2, 3, 4, 5, 6]]]])
    assert table.outline_kinds.tolist() == [HUNDREDTHS, FLOATS]
    assert table.hundredths.tolist() == [1, 65535, 330, 400, 500, 607]


@pytest.mark.parametrize("value", [-0.01, 655.36, 0.001, math.nextafter(0.3, 1)])
def test_other_coordinates_stay_as_they_are(value: float) -> None:
    outline = [[value, 2, 3, 4, 5, 6]]
    table = build([[outline]])
    assert table.outline_kinds.tolist() == [FLOATS]
    assert table.outlines(0) == [outline]


def test_a_saved_table_is_the_same_and_mapped(tmp_path: Path) -> None:
    table = build([[[[1.5, 2, 3, 4, 5, 6]]], [{"size": [20, 40], "counts": [3, 797]}]])
    table.save(tmp_path)
    opened = Table.open(tmp_path)
    assert opened.categories == {3: "cat"}
    assert opened.skipped == ("annotation 8 ...",)
    assert opened.outlines(0) == table.outlines(0)
    assert opened.boxes.tolist() == [[1, 2, 3.5, 4]] * 2
    with pytest.raises(ValueError, match="read-only"):
        opened.boxes[0, 0] = 5


@pytest.mark.parametrize("name", ["boxes.npy", "table.json"])
def test_a_damaged_table_is_refused(tmp_path: Path, name: str) -> None:
    build([[]]).save(tmp_path)
    (tmp_path / name).write_bytes((tmp_path / name).read_bytes()[:10])
    with pytest.raises((OSError, ValueError, KeyError)):
        Table.open(tmp_path)


def test_another_process_gets_a_mapped_table_as_its_folder(tmp_path: Path) -> None:
    table = build([[[[1.5, 2, 3, 4, 5, 6]]] * 1000])
    table.save(tmp_path)
    handed = pickle.dumps(Table.open(tmp_path))
    assert len(handed) < 500
    assert pickle.loads(handed).outlines(0) == table.outlines(0)
    assert pickle.loads(pickle.dumps(table)).outlines(0) == table.outlines(0)


def test_names_of_any_kind_come_back() -> None:
    names = ["größe/a b.jpg", "\ud800.jpg", "図.png"]
    builder = TableBuilder()
    for number, name in enumerate(names):
        builder.add_picture(number, name, (4, 3))
    table = builder.build({}, ())
    assert table.all_names() == names
    assert [table.name(row) for row in range(3)] == names


def test_crowds_are_no_objects() -> None:
    builder = TableBuilder()
    for number, crowds in enumerate(([False, True], [], [True], [False])):
        builder.add_picture(number, f"{number}.jpg", (4, 3))
        for is_crowd in crowds:
            builder.add_annotation((0, 0, 1, 1), 1, is_crowd, 1, [[0, 0, 1, 0, 1, 1]])
    assert builder.build({}, ()).object_counts().tolist() == [1, 0, 0, 1]
    assert np.array_equal(builder.build({}, ()).starts, [0, 2, 2, 3, 4])
