"""The set-up's log in CloudWatch Logs."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from node import paths, setup_log
from node.setup_log import events
from tests.node import aws_fake

NOW = 1_800_000_000.0


def test_a_line_has_its_moment_and_what_follows_it_the_same() -> None:
    lines = ["before\n", "2026-01-01T00:00:01Z one\n", "of it\n", "\n", "2026-99-01T00:00:00Z x\n"]
    assert events(lines, now=NOW) == [
        {"timestamp": 1_767_225_601_000, "message": "2026-01-01T00:00:01Z one"},
        {"timestamp": 1_767_225_601_000, "message": "of it"},
        {"timestamp": 1_767_225_601_000, "message": "2026-99-01T00:00:00Z x"},
        {"timestamp": 1_800_000_000_000, "message": "before"},
    ]


def test_it_stays_below_what_one_call_takes_and_keeps_the_end() -> None:
    lines = [f"{number} " + "ä" * 5000 for number in range(3000)]
    found = events(lines, now=NOW)
    assert sum(len(one["message"].encode()) + 26 for one in found) <= 1_048_576
    assert found[-1]["message"].startswith("2999 ")
    assert all(len(one["message"].encode()) <= 4096 for one in found)
    assert len(events(["x"] * 20_000, now=NOW)) == setup_log.MOST_LINES


def test_it_goes_to_a_stream_that_may_be_there_already(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    aws = aws_fake.install(tmp_path / "aws", monkeypatch)
    aws.answers(
        create_log_stream=[["ResourceAlreadyExistsException", "it is"]], put_log_events=[{}]
    )
    monkeypatch.setattr(paths, "RUN", tmp_path / "run")
    log = tmp_path / "setup.log"
    log.write_text("2026-01-01T00:00:01Z one\n")
    setup_log.send(log, group="/g", stream="i-1/setup", region="eu-central-1")
    names = ["--log-group-name", "/g", "--log-stream-name", "i-1/setup"]
    region = ["--region", "eu-central-1", "--output", "json"]
    create, put = aws.calls
    assert create == ["logs", "create-log-stream", *names, *region]
    [(file, content)] = aws.files[1].items()
    assert put == ["logs", "put-log-events", *names, "--log-events", file, *region]
    assert json.loads(content) == [
        {"timestamp": 1_767_225_601_000, "message": "2026-01-01T00:00:01Z one"}
    ]
