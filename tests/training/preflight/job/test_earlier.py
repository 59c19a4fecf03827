"""What jobs that were launched from here have measured."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.training.jobs.test_record import job
from tests.training.platforms.sagemaker import planning
from tests.training.preflight.job.test_pace import LINES, PLACE, RECORD, leave, line
from training.aws.clients import Clients
from training.aws.s3 import S3
from training.data.mounts import MOUNTS_VARIABLE
from training.errors import AwsError
from training.hyperparameter_text import to_texts
from training.jobs.record import Record
from training.preflight.job.asked import S3Place
from training.preflight.job.earlier import (
    MOST_LOOKED_AT,
    EarlierJobs,
    earlier_logs,
    paces_before,
)
from training.preflight.job.log_files import LogFiles, LogInFolder, LogOnS3
from training.preflight.job.measured import JobLog

NOW = {"precision": '"bf16"', "seed": "1", "lr_schedule": "[8000]", "new": "0"}
BEFORE = {"precision": "bf16", "seed": "7", "lr_schedule": "[90]"}
DEFAULTS = {"precision": "fp32", "seed": "0", "new": "0"}


def left(
    aws: Clients,
    place: S3Place = PLACE,
    *,
    hyperparameters: Any = BEFORE,
    record: Mapping[str, Any] = RECORD,
    lines: str = LINES,
) -> None:
    """Leave the log of an earlier job on S3."""
    s3 = aws.boto("s3")
    s3.create_bucket(Bucket=place.bucket)
    for name, text in {
        "hyperparameters.json": json.dumps(hyperparameters),
        "job.json": json.dumps(record),
        "metrics.jsonl": lines,
    }.items():
        s3.put_object(Bucket=place.bucket, Key=f"{place.key}/{name}", Body=text)


@pytest.fixture
def record(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Record:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    return Record.of({"XDG_STATE_HOME": str(tmp_path / "state")})


def test_what_is_known_of_a_job_is_its_machines_and_its_pace(aws: Clients) -> None:
    uneven = "".join(line(step, speed) for step, speed in enumerate((10, 40, 40, 40, 90, 1e3)))
    left(aws, lines=uneven)
    [pace] = EarlierJobs([JobLog(LogOnS3(aws.s3, PLACE))], NOW, DEFAULTS).known()
    assert (pace.instance_type, pace.instances, pace.world_size) == ("ml.g5.12xlarge", 2, 8)
    # The median, and of each of eight GPUs.
    assert (pace.images_per_second, pace.of_each) == (40.0, 5.0)
    assert pace.place == str(PLACE)


@pytest.mark.parametrize(
    "hyperparameters",
    [{**BEFORE, "precision": "fp32"}, {**BEFORE, "new": "1"}, {**BEFORE, "gone": "1"}, [1], None],
)
def test_a_job_that_was_not_alike_tells_nothing(aws: Clients, hyperparameters: Any) -> None:
    left(aws, hyperparameters=hyperparameters)
    assert EarlierJobs([JobLog(LogOnS3(aws.s3, PLACE))], NOW, DEFAULTS).known() == []


class Refusing(LogFiles):
    """A log folder whose files are not to be read."""

    place = "s3://bucket/refused"

    def read(self, name: str, *, last_bytes: int | None = None) -> bytes | None:
        raise AwsError("refused")


class Hanging(LogFiles):
    """One that does not answer until the test is over."""

    place = "s3://bucket/hanging"

    def __init__(self) -> None:
        self.over = threading.Event()

    def read(self, name: str, *, last_bytes: int | None = None) -> bytes | None:
        self.over.wait(60)
        return None


def folder(tmp_path: Path) -> JobLog:
    leave(tmp_path)
    (tmp_path / "hyperparameters.json").write_text(json.dumps(BEFORE))
    return JobLog(LogInFolder(tmp_path))


def test_what_was_read_before_a_refusal_is_known(tmp_path: Path) -> None:
    earlier = EarlierJobs([folder(tmp_path), JobLog(Refusing()), folder(tmp_path)], NOW, DEFAULTS)
    assert [each.place for each in earlier.known()] == [str(tmp_path)]
    with pytest.raises(AwsError, match="refused"):
        list(earlier.paces())


def test_an_answer_that_does_not_come_is_not_waited_for(tmp_path: Path) -> None:
    hanging = Hanging()
    earlier = EarlierJobs([folder(tmp_path), JobLog(hanging)], NOW, DEFAULTS)
    began = time.monotonic()
    try:
        assert [each.place for each in earlier.known(time_limit_s=0.5)] == [str(tmp_path)]
    finally:
        hanging.over.set()
    assert time.monotonic() - began < 20


def test_earlier_logs_are_those_of_the_record_that_can_be_read(
    record: Record, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    s3 = S3(None)
    assert earlier_logs(s3, "bucket", here=True) == []
    (tmp_path / "fs-0123/log-b").mkdir(parents=True)
    record.add(job("a", 1, log="s3://bucket/log-a"))
    record.add(job("b", 3, log="fs-0123:/log-b", instance_type="p4d.24xlarge"))
    record.add(job("c", 2, log="s3://bucket/log-c"))
    record.add(job("d", 4, log="s3://bucket-of-others/log-d"))
    record.add(job("e", 5, log=None))
    record.add(job("f", 6, log="fs-0123:/gone"))
    monkeypatch.setenv(MOUNTS_VARIABLE, str(tmp_path))
    on_s3 = [JobLog(LogOnS3(s3, S3Place("bucket", f"log-{name}"))) for name in "ca"]
    here = JobLog(LogInFolder(tmp_path / "fs-0123/log-b"), "p4d.24xlarge")
    assert earlier_logs(s3, "bucket", here=True) == [here, *on_s3]
    assert earlier_logs(s3, "bucket", here=False) == on_s3
    assert earlier_logs(None, "bucket", here=True) == [here]
    monkeypatch.delenv(MOUNTS_VARIABLE)
    assert earlier_logs(None, "bucket", here=True) == []
    record.file.unlink()
    record.file.mkdir()
    assert earlier_logs(s3, "bucket", here=True) == []


def test_a_long_record_is_not_read_to_its_end(record: Record) -> None:
    for number in range(MOST_LOOKED_AT + 1):
        record.add(job(f"job-{number}", number, log=f"s3://bucket/log-{number}"))
    found = earlier_logs(S3(None), "bucket", here=False)
    assert [each.files.place for each in found] == [
        f"s3://bucket/log-{number}" for number in range(MOST_LOOKED_AT, 0, -1)
    ]


def test_jobs_like_a_planned_one_are_asked_when_that_is_wanted(
    record: Record, aws: Clients
) -> None:
    mine = planning.make_job()
    ask = paces_before(mine, aws.s3, PLACE.bucket)
    record.add(job(log=str(PLACE)))
    assert list(ask()) == []
    left(aws, hyperparameters=to_texts(mine.hyperparameters))
    assert [each.place for each in ask()] == [str(PLACE)]
    of_another = planning.make_job(algorithm="tensorpack", instances__type="p3.16xlarge")
    assert list(paces_before(of_another, aws.s3, PLACE.bucket)()) == []
