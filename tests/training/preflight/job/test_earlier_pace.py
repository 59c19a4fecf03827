"""Whether a new job can end in time, at the pace of an earlier one."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.training.jobs.test_record import job
from tests.training.preflight.job.test_pace import COURSE, LATE, LINES, PLACE, RECORD
from tests.training.preflight.stacks.conftest import codes_of, only_finding_of
from training.aws.clients import Clients
from training.jobs.record import Record
from training.preflight.job.asked import S3Place
from training.preflight.job.earlier_pace import (
    MOST_LOOKED_AT,
    EarlierPaceSuffices,
    earlier_logs,
)

NOW = {"precision": '"bf16"', "seed": "1", "lr_schedule": "[8000]", "new": "0"}
BEFORE = {"precision": "bf16", "seed": "7", "lr_schedule": "[90]"}
DEFAULTS = {"precision": "fp32", "seed": "0", "new": "0"}

# All of 2,000 steps of 32 pictures, 50 a second.
NEEDED_S = 1_280


def left(
    aws: Clients, *, hyperparameters: Any = BEFORE, record: Mapping[str, Any] = RECORD
) -> None:
    """Leave the log of an earlier job on S3."""
    s3 = aws.boto("s3")
    s3.create_bucket(Bucket=PLACE.bucket)
    for name, text in {
        "hyperparameters.json": json.dumps(hyperparameters),
        "job.json": json.dumps(record),
        "metrics.jsonl": LINES,
    }.items():
        s3.put_object(Bucket=PLACE.bucket, Key=f"{PLACE.key}/{name}", Body=text)


def check(aws: Clients, *places: S3Place, **course: Any) -> EarlierPaceSuffices:
    planned = replace(COURSE, **course)
    return EarlierPaceSuffices(planned, aws.s3, places or (PLACE,), NOW, DEFAULTS)


@pytest.mark.parametrize(
    ("course", "codes"),
    [
        ({"max_run_s": NEEDED_S - 1}, LATE),
        ({"max_run_s": NEEDED_S}, []),
        # How long an epoch is, is not known.
        ({"total_steps": None, "total_epochs": 24.0}, []),
        ({"instance_type": "ml.p4d.24xlarge"}, []),
    ],
)
def test_the_whole_schedule_is_held_against_the_limit(
    aws: Clients, course: dict[str, Any], codes: list[str]
) -> None:
    left(aws)
    assert codes_of(check(aws, **course)) == codes


def test_the_message_names_the_earlier_job(aws: Clients) -> None:
    left(aws)
    message = only_finding_of(check(aws), LATE[0]).message
    assert message.startswith(
        "the schedule has 64,000 pictures to go, which take 1,280 s of training at 50 pictures"
    )
    assert f"in {PLACE}/metrics.jsonl" in message


@pytest.mark.parametrize(
    "hyperparameters",
    [{**BEFORE, "precision": "fp32"}, {**BEFORE, "new": "1"}, {**BEFORE, "gone": "1"}, [1], None],
)
def test_a_job_that_was_not_alike_tells_nothing(aws: Clients, hyperparameters: Any) -> None:
    left(aws, hyperparameters=hyperparameters)
    assert codes_of(check(aws)) == []


def test_the_newest_that_are_there_are_looked_at(aws: Clients) -> None:
    left(aws)
    gone = [S3Place(PLACE.bucket, f"gone-{number}") for number in range(MOST_LOOKED_AT)]
    assert codes_of(check(aws, *gone[:-1], PLACE)) == LATE
    assert codes_of(check(aws, *gone, PLACE)) == []


def test_earlier_jobs_are_those_of_the_record_in_the_same_bucket(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    assert earlier_logs("bucket") == []
    record = Record.of({"XDG_STATE_HOME": str(tmp_path)})
    record.add(job("a", 1, log="s3://bucket/log-a"))
    record.add(job("b", 3, log="fs-0123:/log-b"))
    record.add(job("c", 2, log="s3://bucket/log-c"))
    record.add(job("d", 4, log="s3://bucket-of-others/log-d"))
    record.add(job("e", 5, log=None))
    assert earlier_logs("bucket") == [S3Place("bucket", "log-c"), S3Place("bucket", "log-a")]
    record.file.unlink()
    record.file.mkdir()
    assert earlier_logs("bucket") == []
