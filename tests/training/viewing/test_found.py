"""Which logs are found below a folder, and whose is the newest checkpoint."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from training.told import Told
from training.viewing import look
from training.viewing.found import find_logs


def write(path: Path, time_s: float, text: str = "") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    os.utime(path, (time_s, time_s))
    return path


def test_the_folder_itself_may_be_the_log(tmp_path: Path) -> None:
    for step in (12, 4, 8):
        write(tmp_path / f"checkpoints/step-{step:08}.pt", 1000 + step)
    write(tmp_path / "model.pt", 1005)
    [log] = find_logs(tmp_path)
    assert log.folder == tmp_path
    names = [path.name for path in log.checkpoints]
    assert names == ["step-00000012.pt", "step-00000008.pt", "step-00000004.pt", "model.pt"]
    assert log.saved_s == 1012
    assert not log.is_of_tensorpack


def test_the_newest_checkpoint_comes_first_whoever_has_written_it(tmp_path: Path) -> None:
    write(tmp_path / "log-a/checkpoints/step-00000900.pt", 1000)
    write(tmp_path / "below/log-b/checkpoints/attempt-1/model-500.index", 3000)
    write(tmp_path / "log-c/train_log/maskrcnn/model-100.index", 2000)
    write(tmp_path / "log-d/metrics.jsonl", 9000)
    write(tmp_path / "data/train2017/000000000009.jpg", 9000)
    logs = find_logs(tmp_path)
    assert [log.folder.name for log in logs] == ["log-b", "log-c", "log-a", "log-d"]
    assert [log.is_of_tensorpack for log in logs] == [True, True, False, False]
    assert [log.saved_s for log in logs] == [3000, 2000, 1000, None]


def test_attempts_are_in_the_order_of_their_numbers(tmp_path: Path) -> None:
    for number in (10, 2, 1):
        write(tmp_path / f"checkpoints/attempt-{number}/stats.json", 1000)
    [log] = find_logs(tmp_path)
    assert [path.name for path in log.attempts] == ["attempt-1", "attempt-2", "attempt-10"]


def test_links_are_not_followed_and_hidden_folders_left_out(tmp_path: Path) -> None:
    write(tmp_path / ".trash/log-a/model.pt", 1000)
    (tmp_path / "again").symlink_to(tmp_path)
    assert find_logs(tmp_path) == []


def test_looking_says_which_logs_there_are_and_takes_the_first(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write(tmp_path / "log-a/checkpoints/step-00000900.pt", 0)
    write(tmp_path / "log-b/metrics.jsonl", 2000)
    view = look(tmp_path)
    assert view.log.folder == tmp_path / "log-a"
    assert capsys.readouterr().out.splitlines() == [
        f"> {tmp_path}/log-a: our trainer, newest checkpoint of 1970-01-01 00:00:00 UTC",
        f"  {tmp_path}/log-b: our trainer, no checkpoint yet",
    ]


def test_without_logs_it_says_so(tmp_path: Path) -> None:
    with pytest.raises(Told, match="no job has written there yet"):
        look(tmp_path)
    with pytest.raises(Told, match=r"absent: no such folder; it is global\.log_dir"):
        look(tmp_path / "absent")
