"""Whether a job that goes on can end in time, at the pace that it had."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.training.preflight.stacks.conftest import codes_of, findings_of
from training.aws.clients import Clients
from training.preflight.job.asked import S3Place
from training.preflight.job.course import Course
from training.preflight.job.log_files import LogInFolder, LogOnS3
from training.preflight.job.measured import TAIL_BYTES, JobLog
from training.preflight.job.pace import PaceInFolderSuffices, PaceOnS3Suffices

PLACE = S3Place("job-bucket", "output/log-mine")
RECORD: dict[str, Any] = {
    "request": {"instance_type": "ml.g5.12xlarge", "hosts": ["algo-1", "algo-2"]},
    "world_size": 8,
}
COURSE = Course(
    instance_type="ml.g5.12xlarge",
    instances=2,
    world_size=8,
    global_batch_size=32,
    total_steps=2_000,
    total_epochs=None,
    max_run_s=600,
    usd_per_hour=90.0,
)
IN_TIME = ["schedule-estimate"]
LATE = ["schedule-estimate", "schedule-over-time-limit"]


def line(step: int, speed: float = 50.0, **changes: Any) -> str:
    said = {
        "kind": "train",
        "step": step,
        "epoch": step / 500,
        "time_s": 1.0,
        "values": {"images_per_second": speed},
        **changes,
    }
    return json.dumps(said) + "\n"


LINES = "".join(line(step) for step in range(800, 1_001, 20))
"""Up to step 1000: 32,000 pictures are left, of 50 a second: 640 s."""


def in_folder(folder: Path, course: Course = COURSE) -> PaceInFolderSuffices:
    return PaceInFolderSuffices(course, JobLog(LogInFolder(folder)))


def on_s3(aws: Clients, place: S3Place) -> PaceOnS3Suffices:
    return PaceOnS3Suffices(COURSE, JobLog(LogOnS3(aws.s3, place)))


def leave(folder: Path, *, record: Any = RECORD, lines: str = LINES) -> None:
    (folder / "job.json").write_text(json.dumps(record))
    (folder / "metrics.jsonl").write_text(lines)


@pytest.mark.parametrize(
    ("course", "codes"),
    [
        ({}, LATE),
        ({"max_run_s": 640}, IN_TIME),
        ({"max_run_s": 639}, LATE),
        # Passes of 500 steps: two are done at step 1000.
        ({"total_steps": None, "total_epochs": 4.0}, LATE),
        ({"total_steps": None, "total_epochs": 3.0}, IN_TIME),
        # All is done: nothing is to go.
        ({"total_steps": 1_000}, []),
        ({"total_steps": None}, []),
        # On other machines the pace is another.
        ({"instance_type": "ml.p4d.24xlarge"}, []),
        ({"instances": 1}, []),
        ({"world_size": 16}, []),
    ],
)
def test_what_is_left_is_held_against_the_limit(
    tmp_path: Path, course: dict[str, Any], codes: list[str]
) -> None:
    leave(tmp_path)
    assert codes_of(in_folder(tmp_path, replace(COURSE, **course))) == codes


def test_the_message_has_the_sum_and_its_source(tmp_path: Path) -> None:
    leave(tmp_path)
    estimate, found = findings_of(in_folder(tmp_path))
    assert (estimate.severity, estimate.path) == ("info", "cost")
    assert estimate.message == (
        "the 32,000 pictures that the schedule has to go take about 10.7 min and 16.00 USD on "
        "demand, at 50 pictures a second (median of the last 11 readings in "
        f"{tmp_path}/metrics.jsonl, on the same machines), evaluations apart"
    )
    assert found.severity == "warning"
    assert found.message.startswith(
        "the schedule has 32,000 pictures to go, which take 640 s of training at 50 pictures a "
        f"second (median of the last 11 readings in {tmp_path}/metrics.jsonl, on the same machines)"
    )


def test_an_unknown_price_is_not_shown_as_none(tmp_path: Path) -> None:
    leave(tmp_path)
    course = replace(COURSE, usd_per_hour=None, max_run_s=900)
    [estimate] = findings_of(in_folder(tmp_path, course))
    assert "take about 10.7 min, at a price that is not known here, at 50" in estimate.message


@pytest.mark.parametrize(
    ("record", "lines"),
    [
        ({}, LINES),
        ([], LINES),
        ("?", LINES),
        ({**RECORD, "request": None}, LINES),
        ({**RECORD, "world_size": "8"}, LINES),
        ({**RECORD, "request": {**RECORD["request"], "hosts": 2}}, LINES),
        (RECORD, ""),
        (RECORD, line(800) * 4),
        (RECORD, line(1_000, 0.0) * 9),
        (RECORD, line(1_000, float("nan")) * 9),
        (RECORD, line(1_000, values={"mAP(bbox)/IoU=0.5": 0.1}) * 9),
        (RECORD, "{ \n[1]\nnull\n" * 9),
    ],
)
def test_without_a_pace_nothing_is_said(tmp_path: Path, record: Any, lines: str) -> None:
    leave(tmp_path, record=record, lines=lines)
    assert codes_of(in_folder(tmp_path)) == []


def test_a_folder_that_is_not_there_says_nothing(tmp_path: Path) -> None:
    assert codes_of(in_folder(tmp_path / "none")) == []


def test_the_last_readings_count(aws: Clients, tmp_path: Path) -> None:
    """An older, faster pace is further back than what is read, on S3 as in a folder."""
    slow = "".join(line(step, 10.0) for step in range(1_000, 1_800, 2))
    assert len(slow) < TAIL_BYTES < len(slow) * 2
    leave(tmp_path, lines=line(1, 1e6) * 2_000 + slow)
    aws.boto("s3").create_bucket(Bucket=PLACE.bucket)
    for name in ("job.json", "metrics.jsonl"):
        content = (tmp_path / name).read_bytes()
        aws.boto("s3").put_object(Bucket=PLACE.bucket, Key=f"{PLACE.key}/{name}", Body=content)
    of_folder = [each.message for each in findings_of(in_folder(tmp_path))]
    of_s3 = [each.message for each in findings_of(on_s3(aws, PLACE))]
    assert ["at 10 pictures a second" in each for each in of_folder] == [True, True]
    assert of_s3 == [each.replace(str(tmp_path), str(PLACE)) for each in of_folder]
    assert codes_of(on_s3(aws, S3Place("job-bucket", "none"))) == []
