from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from training.layout import TrainChannel
from training.maskrcnn.data.collection import read_collection
from training.maskrcnn.data.records import Records
from training.maskrcnn.data.repeats import repeat_factors
from training.maskrcnn.data.store import LooseFiles
from training.maskrcnn.data.table_builder import TableBuilder


def records_of(labels: list[list[int]], tmp_path: Any, crowds: int = 0) -> Records:
    """Return a picture for each list of its objects' labels; crowds have label 9."""
    builder = TableBuilder()
    for number, of_picture in enumerate(labels):
        builder.add_picture(number, f"{number}.jpg", (40, 20))
        for label in of_picture:
            builder.add_annotation((0, 0, 5, 5), label, False, 25, [[0, 0, 5, 0, 5, 5]])
        for _ in range(crowds):
            builder.add_annotation((0, 0, 5, 5), 9, True, 25, {"size": [20, 40], "counts": [800]})
    return Records.of(builder.build({}, ()), LooseFiles(tmp_path))


def test_a_picture_has_the_factor_of_its_rarest_category(tmp_path: Any) -> None:
    # 1 is in all of 16 pictures, 2 in four (twice in one of them), 3 in one.
    labels = [[1], [1, 2, 2], [1, 2], [2, 1], [1, 2, 3], *[[1]] * 11]
    factors = repeat_factors(records_of(labels, tmp_path), 0.5625)
    assert factors == pytest.approx([1, 1.5, 1.5, 1.5, 3, *[1] * 11])
    assert repeat_factors(records_of(labels, tmp_path), 0.01) == pytest.approx([1] * 16)


def test_crowds_and_pictures_without_objects_are_not_repeated(tmp_path: Any) -> None:
    records = records_of([[], [4], *[[]] * 7], tmp_path, crowds=1)
    assert repeat_factors(records, 1.0) == pytest.approx([1, 3, *[1] * 7])
    assert repeat_factors(records_of([[], []], tmp_path), 1.0).tolist() == [1, 1]


def test_several_splits_and_left_out_pictures_are_counted_together(tmp_path: Any) -> None:
    first, second = (
        records_of([[1], [], [2, 1]], tmp_path),
        records_of([[1], [1, 1]], tmp_path),
    )
    joined = Records.joined([first, second]).with_objects()
    pictures, labels = joined.object_labels()
    assert pictures.tolist() == [0, 1, 1, 2, 3, 3]
    assert labels.tolist() == [1, 2, 1, 1, 1, 1]
    assert repeat_factors(joined, 1.0) == pytest.approx([1, 2, 1, 1])


def test_the_user_is_told_how_much_longer_a_pass_is(shapes: TrainChannel, tiny: Any) -> None:
    data = read_collection(shapes, tiny(repeat_threshold=0.9))
    (note,) = data.notes[-1:]
    factors = repeat_factors(data.train, 0.9)
    assert f"instead of {len(data.train)}" in note
    assert f"a pass over the data has {int(np.sum(factors))} pictures" in note
    assert not any("repeat" in note for note in read_collection(shapes, tiny()).notes)
