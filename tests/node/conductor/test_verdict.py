"""What becomes of a job after a round, as a table."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from node.conductor.request import Request, parse
from node.conductor.round import Result
from node.conductor.state import State
from node.conductor.verdict import LIMIT, STALL, USER, judge

SAMPLE = Path(__file__).parents[1] / "requests" / "horovod-efs-resume.json"
LOST = ("10.0.0.2",)


def request(retries: int) -> Request:
    return parse({**json.loads(SAMPLE.read_text()), "retries": retries})


@pytest.mark.parametrize(
    ("result", "by", "failures", "idle", "expected"),
    [
        (Result(0, ""), None, 0, 0, ("completed", 0, False)),
        # It was done before it heard that it was to stop.
        (Result(0, ""), USER, 0, 0, ("completed", 0, False)),
        (Result(75, ""), USER, 0, 0, ("checkpointed", 75, False)),
        (Result(75, ""), LIMIT, 0, 0, ("checkpointed", 75, False)),
        (Result(143, ""), USER, 0, 0, ("stopped", 143, False)),
        (Result(-9, ""), USER, 0, 0, ("stopped", 143, False)),
        # A rank that fails is a failure, whatever was asked meanwhile.
        (Result(1, "x"), USER, 0, 0, ("failed", 1, False)),
        (Result(1, "x", LOST), USER, 0, 0, ("stopped", 143, False)),
        (Result(1, "x"), None, 0, 0, (None, None, True)),
        (Result(1, "x"), None, 1, 0, ("failed", 1, True)),
        # A host that is gone costs no attempt, unless the job never gets on.
        (Result(1, "x", LOST), None, 1, 0, (None, None, False)),
        (Result(1, "x", LOST), None, 0, 3, (None, None, True)),
        (Result(1, "x", LOST), None, 1, 3, ("failed", 1, True)),
        # AWS takes a host: all have saved.
        (Result(75, ""), None, 1, 0, (None, None, False)),
        (Result(75, ""), None, 1, 3, ("failed", 1, True)),
        (Result(75, ""), STALL, 0, 0, (None, None, True)),
        (Result(-9, ""), STALL, 1, 0, ("failed", 1, True)),
        (Result(1, "no replacement", LOST, is_final=True), None, 0, 0, ("failed", 1, False)),
    ],
)
def test_verdict(
    result: Result,
    by: str | None,
    failures: int,
    idle: int,
    expected: tuple[str | None, int | None, bool],
) -> None:
    state = State("one", "horovod", "/efs/log", "", failures=failures, idle_rounds=idle)
    verdict = judge(result, request(retries=1), state, by)
    assert (verdict.state, verdict.exit_code, verdict.counts) == expected
    assert result.reason in verdict.reason or by == STALL
