from __future__ import annotations

import errno
import json
import os
import re
from pathlib import Path
from typing import Any, NoReturn

import pytest

from training.errors import JobFailed
from training.layout import LogChannel
from training.maskrcnn.metrics import FileRecorder, LineRecorder, NullRecorder

VALUES = {"maskrcnn_loss/accuracy": 0.75, "mAP(bbox)/IoU=0.5:0.95": 1e-9, "total_loss": 12345.678}


def test_each_metric_is_a_line_that_the_agreed_expression_finds(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    recorder = FileRecorder(LogChannel(tmp_path), step=0)
    recorder.record("train", VALUES, step=1, epoch=0.5)
    recorder.say("step 1/2")
    recorder.close()
    printed = capsys.readouterr()
    for name, value in VALUES.items():
        (found,) = re.findall(rf".*{re.escape(name)}:\s*(\S+).*", printed.out)
        assert float(found) == pytest.approx(value, rel=1e-5)
    assert printed.err == "step 1/2\n"


def test_lines_hold_exact_values_with_step_and_epoch(tmp_path: Path) -> None:
    recorder = FileRecorder(LogChannel(tmp_path), step=0)
    recorder.record("evaluation", VALUES, step=7, epoch=1 / 3)
    recorder.close()
    line = json.loads(LogChannel(tmp_path).metrics.read_text())
    assert line.pop("time_s") > 1.7e9
    assert line == {"kind": "evaluation", "step": 7, "epoch": 0.333333, "values": VALUES}


def test_a_resumed_run_drops_what_was_recorded_after_its_checkpoint(tmp_path: Path) -> None:
    channel = LogChannel(tmp_path)
    recorder = FileRecorder(channel, step=0)
    for step in (1, 2, 3):
        recorder.record("train", {"total_loss": step}, step=step, epoch=step)
    recorder.close()
    with channel.metrics.open("a") as file:
        file.write('{"kind": "train", "st')  # As a kill leaves it
    resumed = FileRecorder(channel, step=2)
    resumed.record("train", {"total_loss": 30}, step=3, epoch=3)
    resumed.close()
    lines = [json.loads(line) for line in channel.metrics.read_text().splitlines()]
    assert [(line["step"], line["values"]["total_loss"]) for line in lines] == [
        (1, 1),
        (2, 2),
        (3, 30),
    ]


@pytest.mark.parametrize(
    ("written", "found"),
    [((1, 2), [1, 2, 3]), ((1, 2, 3), [1, 2, 3]), ((1, 2, 3, 4), [1, 2, 3]), ((), [3])],
)
def test_a_step_whose_line_was_lost_with_rank_0_has_it_from_another_rank(
    tmp_path: Path, written: tuple[int, ...], found: list[int]
) -> None:
    other = NullRecorder()
    for step in (1, 2, 3):
        other.record("train", {"total_loss": step}, step=step, epoch=step)
    other.record("evaluation", {"mAP(bbox)/IoU=0.5": 0.5}, step=3, epoch=3)
    channel = LogChannel(tmp_path)
    lost = FileRecorder(channel, step=0)
    for step in written:
        lost.record("train", {"total_loss": step}, step=step, epoch=step)
    lost.close()
    FileRecorder(channel, step=3, last=other.last).close()
    lines = [json.loads(line) for line in channel.metrics.read_text().splitlines()]
    assert [(line["kind"], line["step"]) for line in lines] == [("train", step) for step in found]
    assert lines[-1]["values"] == {"total_loss": 3}


def test_a_full_disk_is_one_clear_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full() -> NoReturn:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    recorder = FileRecorder(LogChannel(tmp_path), step=0)
    monkeypatch.setattr(recorder._events, "flush", full)
    with pytest.raises(JobFailed) as failed:
        recorder.record("train", VALUES, step=1, epoch=0.5)
    message = str(failed.value)
    assert message.startswith(f"{tmp_path}: metrics cannot be written (No space left on device)")


def test_other_ranks_are_silent(tmp_path: Path, capsys: pytest.CaptureFixture[Any]) -> None:
    recorder = NullRecorder()
    recorder.record("train", VALUES, step=1, epoch=1)
    recorder.say("hello")
    recorder.close()
    assert capsys.readouterr() == ("", "")


def test_other_ranks_show_their_progress_where_asked_but_no_metrics(
    capsys: pytest.CaptureFixture[str],
) -> None:
    recorder = LineRecorder()
    recorder.say("step 1/2")
    recorder.record("train", VALUES, step=1, epoch=1)
    recorder.close()
    printed = capsys.readouterr()
    assert (printed.out, printed.err) == ("", "step 1/2\n")
