"""TensorBoard's files."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from entrypoint.event_copies import EventCopies


def grow(log: Path, text: str) -> None:
    path = log / "events" / "events.out.tfevents.1.host"
    path.parent.mkdir(exist_ok=True)
    with path.open("a") as file:
        file.write(text)


def test_copies_follow_while_the_job_runs_and_at_its_end(tmp_path: Path) -> None:
    log, target = tmp_path / "log", tmp_path / "tensorboard"
    log.mkdir()
    copies = EventCopies(str(log), str(target), every_s=0.05)
    grow(log, "one")
    copy = target / "events" / "events.out.tfevents.1.host"
    deadline = time.monotonic() + 10
    while not copy.exists() and time.monotonic() < deadline:
        time.sleep(0.02)
    assert copy.read_text() == "one"
    grow(log, " two")
    (log / "events" / "other").touch()
    copies.finish()
    assert copy.read_text() == "one two"
    assert [path.name for path in (target / "events").iterdir()] == [copy.name]


def test_without_a_target_nothing_is_copied(tmp_path: Path) -> None:
    grow(tmp_path, "one")
    EventCopies(str(tmp_path), None).finish()
    assert [path.name for path in tmp_path.rglob("*")] == ["events", "events.out.tfevents.1.host"]


def test_a_copy_that_fails_is_said_once(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    grow(tmp_path, "one")
    copies = EventCopies(str(tmp_path), "/proc/tensorboard", every_s=0.01)
    time.sleep(0.2)
    copies.finish()
    said = capsys.readouterr().err
    assert said.count("MASK_RCNN_TENSORBOARD: /proc/tensorboard: events are not copied") == 1
