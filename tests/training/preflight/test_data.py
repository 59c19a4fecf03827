from __future__ import annotations

from pathlib import Path

from training.layout import TrainChannel
from training.preflight.data import find

SAMPLE = TrainChannel(Path(__file__).parents[2] / "data" / "coco")


def test_a_channel_folder_that_is_not_there_is_one_error_with_its_path(tmp_path: Path) -> None:
    (finding,) = find(TrainChannel(tmp_path / "train"), ["train2017", "val2017"], "stop")
    assert (finding.code, finding.severity) == ("data-channel-missing", "error")
    assert finding.path == str(tmp_path / "train")


def test_a_sound_channel_has_no_finding() -> None:
    assert list(find(SAMPLE, ["train2017", "val2017"], "stop")) == []


def test_a_split_that_is_used_twice_is_checked_once() -> None:
    (finding,) = find(SAMPLE, ["other", "other"], "stop")
    assert finding.code == "annotations-missing"
