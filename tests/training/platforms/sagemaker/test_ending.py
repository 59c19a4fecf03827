"""What each ending of a job is to a script."""

from __future__ import annotations

from typing import Any

import pytest

from tests.training.platforms.sagemaker.fake_aws import description
from training.errors import (
    AwsError,
    Interrupted,
    JobCheckpointed,
    JobFailed,
    TrainingError,
)
from training.platforms.sagemaker.ending import Checkpoint, conclude, failed_host
from training.platforms.sagemaker.state import read_state

CAPACITY = (
    "CapacityError: Unable to provision requested ML compute capacity. Please retry using a "
    "different ML instance type."
)


LOG_CHANNEL = {"DataSource": {"FileSystemDataSource": {"DirectoryPath": "/abc/out/log-run-7"}}}


def end(status: str, secondary: str, checkpoint: Checkpoint, **more: Any) -> None:
    more = {"InputDataConfig": [LOG_CHANNEL]} | more
    state = read_state({"TrainingJobName": "j", **description(status, secondary, **more)})
    conclude(state, last_lines=["last"], look_for_checkpoint=lambda _: checkpoint)


def test_a_job_that_completed_raises_nothing() -> None:
    end("Completed", "Completed", Checkpoint.NONE)


ENDINGS = [
    ("Failed", "Failed", "AlgorithmError: x, exit code: 1", JobFailed, "j failed: Algorithm"),
    ("Failed", "Failed", None, JobFailed, "j failed: SageMaker gives no reason"),
    ("Failed", "Failed", "InternalServerError: Please retry.", JobFailed, "fault of AWS's"),
    ("Failed", "Failed", CAPACITY, AwsError, r"1 x ml\.p3\.16xlarge\)\. Nothing of it ran"),
    ("Failed", "Failed", "AlgorithmError: , exit code: 75", JobCheckpointed, "by a signal"),
    ("Stopped", "MaxRuntimeExceeded", None, JobCheckpointed, r"limits\.max_run_s"),
    ("Stopped", "MaxWaitTimeExceeded", None, JobCheckpointed, r"spot\.max_wait_s"),
    ("Stopped", "Stopped", None, JobCheckpointed, "by request, with a checkpoint"),
    ("Deleting", "Stopped", None, JobCheckpointed, "by request"),
]


@pytest.mark.parametrize(("status", "secondary", "reason", "kind", "said"), ENDINGS)
def test_each_ending_is_an_error_of_its_own(
    status: str, secondary: str, reason: str | None, kind: type[TrainingError], said: str
) -> None:
    more = {"FailureReason": reason} if reason is not None else {}
    with pytest.raises(kind, match=said):
        end(status, secondary, Checkpoint.THERE, **more)


def test_what_cannot_be_seen_is_said() -> None:
    with pytest.raises(JobCheckpointed) as raised:
        end("Stopped", "Stopped", Checkpoint.UNKNOWN)
    assert str(raised.value) == (
        "j was stopped by request; whether with a checkpoint cannot be seen from here. The same "
        "launch command with --resume --name run-7 goes on from its last checkpoint, or begins "
        "anew where there is none"
    )


def test_a_job_that_saves_nothing_has_failed_where_it_was_stopped() -> None:
    with pytest.raises(JobFailed, match=r"by its time limit .* has no folder of checkpoints"):
        end("Stopped", "MaxRuntimeExceeded", Checkpoint.NONE, InputDataConfig=[])


def test_nothing_saved_is_an_interruption() -> None:
    with pytest.raises(
        Interrupted, match=r"before there was a checkpoint\. To begin anew, "
    ) as raised:
        end("Stopped", "MaxRuntimeExceeded", Checkpoint.NONE)
    assert str(raised.value).endswith(
        ". To begin anew, launch it again, under another --name if you gave it one: SageMaker uses "
        "a name once"
    )


@pytest.mark.parametrize(
    ("reason", "host"),
    [("rank 3 on algo-12 ended", "algo-12"), ("AlgorithmError: no", None), (None, None)],
)
def test_the_host_that_failed_is_read_from_the_reason(reason: str | None, host: str | None) -> None:
    assert failed_host(reason) == host
