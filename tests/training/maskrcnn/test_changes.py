from __future__ import annotations

from typing import Any

import pytest

from training.errors import JobFailed
from training.maskrcnn.changes import DECIDE_ORDER, describe_changes

OTHERS = {
    "seed": 1,
    "data_train": ["val2017"],
    "aspect_ratio_grouping": False,
    "repeat_threshold": 0.1,
    "shuffle": "shards",
    "empty_pictures": "train",
}


def test_the_same_hyperparameters_need_no_note(tiny: Any) -> None:
    assert describe_changes(tiny().model_dump(mode="json"), tiny()) is None


def test_a_note_names_what_was_and_what_is(tiny: Any) -> None:
    before = tiny().model_dump(mode="json")
    now = tiny(base_learning_rate=0.5, lr_epoch_schedule=[[2, None]])
    assert describe_changes(before, now) == (
        "goes on with other hyperparameters than before: lr_epoch_schedule [[1, None]] to "
        "[[2, None]], base_learning_rate 0.02 to 0.5"
    )


@pytest.mark.parametrize("name", DECIDE_ORDER)
def test_another_order_of_the_pictures_is_refused(name: str, tiny: Any) -> None:
    now = tiny(**{name: OTHERS[name]})
    before = tiny().model_dump(mode="json")
    with pytest.raises(JobFailed) as refused:
        describe_changes(before, now)
    assert f"({name} {before[name]!r} to {OTHERS[name]!r})" in str(refused.value)


def test_a_hyperparameter_that_came_later_had_its_default(tiny: Any) -> None:
    before = tiny().model_dump(mode="json")
    del before["padding_multiple"], before["shuffle"]
    before["gone"] = 1
    assert describe_changes(before, tiny()) is None
    assert describe_changes(before, tiny(padding_multiple=64)) == (
        "goes on with other hyperparameters than before: padding_multiple 32 to 64"
    )
