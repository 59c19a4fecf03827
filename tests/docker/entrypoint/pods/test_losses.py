"""Which starts are free, and which count."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from entrypoint.errors import DONE, FAILED, STOPPED_WITH_CHECKPOINT, Ending
from entrypoint.losses import Losses, newest_checkpoint

PATTERNS = ("checkpoints", "model-*")
GONE = Ending(FAILED, "host b is gone")


def judge(losses: Losses, ending: Ending = GONE, *, is_stopped: bool = False) -> bool:
    return losses.is_next_free(ending, {"b": "uid"}, is_stopped=is_stopped)


def test_a_lost_pod_costs_nothing_and_is_not_let_in_again(tmp_path: Path) -> None:
    losses = Losses(str(tmp_path), PATTERNS)
    assert judge(losses)
    assert losses.pods == {"b": "uid"}


@pytest.mark.parametrize(
    ("ending", "lost", "is_stopped"),
    [
        (Ending(DONE, "completed"), {"b": "uid"}, False),
        (GONE, {}, False),
        (GONE, {"b": "uid"}, True),
        (Ending(STOPPED_WITH_CHECKPOINT, "stopped"), {"b": "uid"}, True),
        # Nobody said which pod it was: another, or the same again.
        (GONE, {"b": ""}, False),
        (GONE, {"a": "uid", "b": ""}, False),
    ],
)
def test_any_other_end_is_one(
    tmp_path: Path, ending: Ending, lost: dict[str, str], is_stopped: bool
) -> None:
    losses = Losses(str(tmp_path), PATTERNS)
    assert not losses.is_next_free(ending, lost, is_stopped=is_stopped)
    assert losses.pods == {}


def test_three_starts_without_a_new_checkpoint_are_enough(tmp_path: Path) -> None:
    losses = Losses(str(tmp_path), PATTERNS)
    assert [judge(losses) for _ in range(2)] == [True, True]
    (tmp_path / "checkpoints").mkdir()
    (tmp_path / "checkpoints" / "step-1.pt").touch()
    assert [judge(losses) for _ in range(4)] == [True, True, True, False]


def test_the_newest_checkpoint_is_a_file_or_one_in_a_folder(tmp_path: Path) -> None:
    assert newest_checkpoint(str(tmp_path), PATTERNS) == 0
    assert newest_checkpoint(str(tmp_path / "nothing"), PATTERNS) == 0
    for number, name in enumerate(["model-5.index", "checkpoints/step-1.pt", "metrics.jsonl"], 1):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.touch()
        os.utime(path, ns=(number, number))
    assert newest_checkpoint(str(tmp_path), PATTERNS) == 2
