"""Name, bucket, key and log folder of a job."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.training.preflight.job.test_quotas import DESCRIPTION
from tests.training.preflight.stacks.conftest import (
    REGION,
    Stub,
    codes_of,
    findings_of,
    only_finding_of,
)
from training.aws.clients import Clients
from training.aws.kms import Kms
from training.aws.s3 import S3
from training.aws.sagemaker import SageMaker
from training.preflight.job.asked import S3Place
from training.preflight.job.keys import KeyIsEnabled
from training.preflight.job.log import CheckpointsAreOfThisJob, LogFolderIsOfThisJob
from training.preflight.job.name import NameIsFree
from training.preflight.job.output import OutputBucketIsThere


def name(stub: Stub, answer: dict[str, Any] | str) -> NameIsFree:
    call = ("describe_training_job", answer, {"TrainingJobName": "mine"})
    return NameIsFree(SageMaker(stub("sagemaker", call)), "mine", "f1")


@pytest.mark.parametrize(
    ("answer", "codes"),
    [
        ("ValidationException: Requested resource not found.", []),
        # Who may see the jobs of a project alone is not told that there is none.
        ("AccessDeniedException", []),
        (DESCRIPTION, ["job-name-taken"]),
        ({**DESCRIPTION, "Environment": {"MASK_RCNN_FINGERPRINT": "f2"}}, ["job-name-taken"]),
        ({**DESCRIPTION, "Environment": {"MASK_RCNN_FINGERPRINT": "f1"}}, ["job-already-there"]),
    ],
)
def test_a_name_is_free_or_of_this_very_request(
    stub: Stub, answer: dict[str, Any] | str, codes: list[str]
) -> None:
    assert codes_of(name(stub, answer)) == codes


def test_a_name_that_is_taken_is_an_error_and_the_same_request_is_none(stub: Stub) -> None:
    assert only_finding_of(name(stub, DESCRIPTION), "job-name-taken").severity == "error"
    ours = {**DESCRIPTION, "Environment": {"MASK_RCNN_FINGERPRINT": "f1"}}
    finding = only_finding_of(name(stub, ours), "job-already-there")
    assert finding.severity == "info"
    assert finding.message.endswith(
        "is InProgress: no second job is started, and --wait follows this one"
    )
    finding = only_finding_of(name(stub, {**ours, "TrainingJobStatus": "Stopped"}), finding.code)
    assert finding.message.endswith(
        "is Stopped: no second job is started. For another, give another --name, or go on from its "
        "checkpoint with --resume"
    )


def test_a_bucket_in_the_jobs_region_passes(aws: Clients) -> None:
    aws.boto("s3").create_bucket(Bucket="job-bucket")
    assert codes_of(OutputBucketIsThere(aws.s3, "job-bucket", REGION)) == []


def test_one_in_another_region_or_not_there_is_an_error(aws: Clients) -> None:
    aws.boto("s3").create_bucket(
        Bucket="far-bucket", CreateBucketConfiguration={"LocationConstraint": "eu-west-1"}
    )
    far = only_finding_of(
        OutputBucketIsThere(aws.s3, "far-bucket", REGION), "bucket-in-another-region"
    )
    assert far.message.endswith("Set AWS_REGION=eu-west-1")
    assert codes_of(OutputBucketIsThere(aws.s3, "no-bucket", REGION)) == ["bucket-missing"]


def test_one_that_does_not_let_in_was_not_looked_at(stub: Stub) -> None:
    client = stub("s3", ("head_bucket", "403", {"Bucket": "b"}))
    finding = only_finding_of(OutputBucketIsThere(S3(client), "b", REGION), "bucket-forbidden")
    assert finding.severity == "warning"


def test_a_key_has_to_be_enabled(aws: Clients) -> None:
    kms = aws.boto("kms")
    arn = kms.create_key()["KeyMetadata"]["Arn"]
    assert codes_of(KeyIsEnabled(aws.kms, arn)) == []
    kms.disable_key(KeyId=arn.rpartition("/")[2])
    disabled = only_finding_of(KeyIsEnabled(aws.kms, arn), "key-not-enabled")
    assert disabled.message.endswith(f"Switch it on: aws kms enable-key --key-id {arn}")


def test_a_key_that_is_to_be_deleted_can_be_saved(stub: Stub) -> None:
    metadata = {"KeyId": "k", "KeyState": "PendingDeletion"}
    client = stub("kms", ("describe_key", {"KeyMetadata": metadata}, {"KeyId": "k"}))
    going = only_finding_of(KeyIsEnabled(Kms(client), "k"), "key-not-enabled")
    assert "is PendingDeletion" in going.message
    assert "aws kms cancel-key-deletion --key-id k, then aws kms enable-key" in going.message


def test_a_key_that_is_not_there_is_an_error(aws: Clients) -> None:
    arn = f"arn:aws:kms:{REGION}:123456789012:key/12345678-1234-1234-1234-123456789012"
    assert codes_of(KeyIsEnabled(aws.kms, arn)) == ["key-missing"]


PLACE = S3Place("job-bucket", "output/log-mine")


@pytest.mark.parametrize(
    ("is_used", "resume", "codes"),
    [
        (False, False, []),
        (True, False, ["log-exists"]),
        (True, True, []),
        (False, True, ["resume-nothing"]),
    ],
)
def test_the_log_folder_is_new_or_of_the_job_that_goes_on(
    aws: Clients, tmp_path: Path, *, is_used: bool, resume: bool, codes: list[str]
) -> None:
    s3 = aws.boto("s3")
    s3.create_bucket(Bucket=PLACE.bucket)
    # Of another job, whose name begins alike.
    s3.put_object(Bucket=PLACE.bucket, Key=f"{PLACE.key}-2/checkpoints/a")
    log = tmp_path / "log-mine"
    if is_used:
        s3.put_object(Bucket=PLACE.bucket, Key=f"{PLACE.key}/checkpoints/a")
        log.mkdir()
        (log / "job.json").touch()
    assert codes_of(CheckpointsAreOfThisJob(resume, aws.s3, PLACE)) == codes
    assert codes_of(LogFolderIsOfThisJob(resume, log)) == codes


def test_where_there_is_no_bucket_another_check_says_so(aws: Clients) -> None:
    assert codes_of(CheckpointsAreOfThisJob(False, aws.s3, PLACE)) == []


def test_a_log_folder_that_is_there_and_empty_is_new(tmp_path: Path) -> None:
    assert codes_of(LogFolderIsOfThisJob(False, tmp_path)) == []


def test_where_the_files_are_is_told(tmp_path: Path) -> None:
    (tmp_path / "job.json").touch()
    [finding] = findings_of(LogFolderIsOfThisJob(False, tmp_path))
    assert finding.message == (
        f"{tmp_path} has files already, of a job of this name; give another --name, or add "
        "--resume to go on from its last checkpoint"
    )
