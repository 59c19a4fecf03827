"""A job that goes on: the same hyperparameters, and not done yet."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.training.preflight.stacks.conftest import codes_of, only_finding_of
from training.aws.clients import Clients
from training.preflight.job.asked import S3Place
from training.preflight.job.kept import JobInFolderIsTheSame, JobOnS3IsTheSame

NOW = {"seed": "1", "optimizer": '"sgd\\n"', "precision": "fp32"}
DEFAULTS = {"seed": "0", "optimizer": "sgd", "precision": "fp32"}
PLACE = S3Place("job-bucket", "output/log-mine")

# What is in the folder, and what is found.
CASES = pytest.mark.parametrize(
    ("files", "codes"),
    [
        ({}, []),
        ({"hyperparameters.json": {**NOW, "optimizer": "sgd\n"}}, []),
        # One that came after the job began has had its default.
        ({"hyperparameters.json": {"seed": "1", "optimizer": "sgd\n"}}, []),
        ({"hyperparameters.json": {**NOW, "seed": "2"}}, ["resume-changes-hyperparameters"]),
        ({"hyperparameters.json": {**NOW, "gone": "2"}}, ["resume-changes-hyperparameters"]),
        ({"hyperparameters.json": ["seed"]}, ["log-unreadable"]),
        ({"hyperparameters.json": NOW, "outcome.json": {"status": "completed"}}, ["done"]),
        ({"hyperparameters.json": NOW, "outcome.json": {"status": "checkpointed"}}, []),
        ({"hyperparameters.json": NOW, "outcome.json": "?"}, []),
    ],
)


@CASES
def test_what_the_folder_says_is_compared(
    aws: Clients, tmp_path: Path, files: dict[str, object], codes: list[str]
) -> None:
    aws.boto("s3").create_bucket(Bucket=PLACE.bucket)
    for name, content in files.items():
        text = json.dumps(content)
        (tmp_path / name).write_text(text)
        aws.boto("s3").put_object(Bucket=PLACE.bucket, Key=f"{PLACE.key}/{name}", Body=text)
    expected = ["resume-completed" if code == "done" else code for code in codes]
    assert codes_of(JobInFolderIsTheSame(NOW, DEFAULTS, tmp_path)) == expected
    assert codes_of(JobOnS3IsTheSame(NOW, DEFAULTS, aws.s3, PLACE)) == expected


def test_the_keys_that_differ_are_named_with_both_values(tmp_path: Path) -> None:
    (tmp_path / "hyperparameters.json").write_text(json.dumps({**NOW, "seed": "2", "old": "x"}))
    check = JobInFolderIsTheSame(NOW, DEFAULTS, tmp_path)
    finding = only_finding_of(check, "resume-changes-hyperparameters")
    assert "(old x to None, optimizer" not in finding.message
    assert "(old x to None, seed 2 to 1)" in finding.message
    assert finding.severity == "error"


def test_text_that_is_no_json_is_unreadable(tmp_path: Path) -> None:
    (tmp_path / "hyperparameters.json").write_bytes(b"{ \xff")
    check = JobInFolderIsTheSame(NOW, DEFAULTS, tmp_path)
    assert only_finding_of(check, "log-unreadable").severity == "error"


def test_a_folder_that_is_not_there_says_nothing(tmp_path: Path) -> None:
    assert codes_of(JobInFolderIsTheSame(NOW, DEFAULTS, tmp_path / "none")) == []
