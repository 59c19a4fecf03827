"""Whether a new job can end in time, at the pace of an earlier one."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.training.preflight.job.test_earlier import DEFAULTS, NOW, left
from tests.training.preflight.job.test_pace import COURSE, IN_TIME, LATE, PLACE, leave
from tests.training.preflight.stacks.conftest import codes_of, findings_of
from training.aws.clients import Clients
from training.preflight.job.asked import S3Place
from training.preflight.job.course import Course
from training.preflight.job.earlier import MOST_LOOKED_AT, EarlierJobs
from training.preflight.job.earlier_pace import EarlierPaceHereSuffices, EarlierPaceSuffices
from training.preflight.job.log_files import LogInFolder, LogOnS3
from training.preflight.job.measured import JobLog

# All of 2,000 steps of 32 pictures, 50 a second.
NEEDED_S = 1_280


def check(aws: Clients, *places: S3Place, **course: Any) -> EarlierPaceSuffices:
    logs = [JobLog(LogOnS3(aws.s3, place)) for place in places or (PLACE,)]
    return EarlierPaceSuffices(planned(**course), EarlierJobs(logs, NOW, DEFAULTS))


def planned(**changes: Any) -> Course:
    return replace(COURSE, **changes)


@pytest.mark.parametrize(
    ("course", "codes"),
    [
        ({"max_run_s": NEEDED_S - 1}, LATE),
        ({"max_run_s": NEEDED_S}, IN_TIME),
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


def test_the_messages_name_the_earlier_job(aws: Clients) -> None:
    left(aws)
    estimate, late = [each.message for each in findings_of(check(aws))]
    assert estimate.startswith(
        "the 64,000 pictures that the schedule has to go take about 21.3 min and 32.00 USD on "
    )
    assert late.startswith(
        "the schedule has 64,000 pictures to go, which take 1,280 s of training at 50 pictures"
    )
    assert f"in {PLACE}/metrics.jsonl" in estimate
    assert f"in {PLACE}/metrics.jsonl" in late


def test_the_newest_that_are_there_are_looked_at(aws: Clients) -> None:
    left(aws)
    gone = [S3Place(PLACE.bucket, f"gone-{number}") for number in range(MOST_LOOKED_AT)]
    assert codes_of(check(aws, *gone[:-1], PLACE)) == LATE
    assert codes_of(check(aws, *gone, PLACE)) == []


def test_a_job_in_a_mounted_folder_tells_as_much(tmp_path: Path) -> None:
    leave(tmp_path)
    (tmp_path / "hyperparameters.json").write_text(json.dumps(NOW))
    logs = [JobLog(LogInFolder(folder)) for folder in (tmp_path / "none", tmp_path)]
    earlier = EarlierJobs(logs, NOW, DEFAULTS)
    found = findings_of(EarlierPaceHereSuffices(planned(), earlier))
    assert [each.code for each in found] == LATE
    assert f"in {tmp_path}/metrics.jsonl" in found[1].message
