from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from training.data.check import check_dataset, examine
from training.data.splits import find_splits
from training.layout import TrainChannel

Pack = Callable[..., list[Any]]


@pytest.fixture
def packed(source: Path, tmp_path: Path, pack_set: Pack) -> TrainChannel:
    """The sample in shards, with no loose picture."""
    pack_set(source, tmp_path / "out")
    return TrainChannel(tmp_path / "out")


def codes(channel: TrainChannel) -> list[str]:
    return [
        finding.code
        for finding in check_dataset(channel, ["train2017", "val2017"])
        if finding.severity == "error"
    ]


def test_a_packed_set_passes_the_check_before_a_launch(packed: TrainChannel) -> None:
    assert codes(packed) == []
    health = examine(find_splits(packed.root))
    assert health.errors == 0
    assert [split.split.name for split in health.splits] == ["train2017", "val2017"]


@pytest.mark.parametrize(
    ("name", "code"),
    [("train2017-00001.tar", "shards-missing"), ("members.npy", "shards-unreadable")],
)
def test_what_is_missing_of_the_shards_is_told(packed: TrainChannel, name: str, code: str) -> None:
    (packed.shards("train2017") / name).unlink()
    assert codes(packed) == [code]


def test_shards_of_other_annotations_are_told(packed: TrainChannel) -> None:
    path = packed.annotations("train2017")
    path.write_text(path.read_text().replace("6818", "999001"))
    assert codes(packed) == ["shards-lack-images"]
