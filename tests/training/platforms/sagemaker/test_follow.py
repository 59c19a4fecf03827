"""Following a job: stages, lines, lost connections, and what a script is told in the end."""

from __future__ import annotations

from copy import deepcopy
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

import pytest

from tests.training.platforms.sagemaker.clockwork import Clockwork
from tests.training.platforms.sagemaker.fake_aws import (
    START_S,
    Failing,
    FakeClients,
    FakeLogs,
    FakeS3,
    FakeSageMaker,
    Written,
    as_clients,
    description,
    refused,
)
from training.aws.errors import AwsUnreachable, NoCredentials
from training.errors import (
    AwsError,
    ExitCode,
    Interrupted,
    JobCheckpointed,
    JobFailed,
    UsageError,
)
from training.platforms.sagemaker.follow import follow

JOB = "job-1"
STARTING = (START_S, description("InProgress", "Starting", hosts=2))
TRAINING = (START_S + 60, description("InProgress", "Starting", "Training", hosts=2))
END_S = START_S + 300
ENDED = {
    "TrainingEndTime": datetime.fromtimestamp(END_S, UTC),
    "TrainingTimeInSeconds": 240,
    "BillableTimeInSeconds": 240,
}


def at(second: float, text: str, *, late_s: float = 3.0) -> Written:
    """Return a line that was written so many seconds after the start."""
    return Written(int((START_S + second) * 1000), text, START_S + second + late_s)


def ending(status: str, *stages: str, **more: Any) -> tuple[float, dict[str, Any]]:
    found = description(status, "Starting", "Training", *stages, hosts=2, **ENDED, **more)
    return END_S, found


COMPLETED = ending(
    "Completed", "Completed", ModelArtifacts={"S3ModelArtifacts": "s3://b/job-1/model.tar.gz"}
)


@dataclass
class Following:
    """One job, and what was shown of it."""

    ending: tuple[float, dict[str, Any]] = field(default_factory=lambda: deepcopy(COMPLETED))
    clock: Clockwork = field(default_factory=Clockwork)
    shown: list[str] = field(default_factory=list)
    told: list[str] = field(default_factory=list)
    reconnected: int = 0

    def __post_init__(self) -> None:
        lines = {
            f"{JOB}/algo-1-1": [at(61, "one"), at(100, "three"), at(301, "last", late_s=20)],
            f"{JOB}/algo-2-1": [at(62, "two", late_s=5), at(299, "early")],
        }
        self.aws = FakeClients(
            FakeSageMaker(self.clock, [STARTING, TRAINING, self.ending]),
            FakeLogs(self.clock, lines),
        )

    def run(self) -> None:
        def reconnect() -> Any:
            self.reconnected += 1
            return as_clients(self.aws)

        follow(
            as_clients(self.aws),
            JOB,
            self.shown.append,
            tell=self.told.append,
            timer=self.clock.timer,
            reconnect=reconnect,
        )


LINES = ["[algo-1] one", "[algo-2] two", "[algo-1] three", "[algo-2] early", "[algo-1] last"]


def test_all_lines_are_shown_in_order_also_those_that_come_after_the_end() -> None:
    job = Following()
    job.run()
    assert job.shown == LINES


def test_stages_and_what_is_paid_for_are_told_once() -> None:
    job = Following()
    job.run()
    clock_left_out = [line.split(" ", 1)[1] for line in job.told[:3]]
    assert clock_left_out == ["Starting", "Training", "Completed"]
    assert job.told[3:] == [
        "billed: 240 s x 2 x ml.p3.16xlarge",
        "model: s3://b/job-1/model.tar.gz",
    ]


def test_a_stage_whose_message_changes_is_told_again() -> None:
    job = Following()
    later = description("InProgress", "Starting", hosts=2)
    later["SecondaryStatusTransitions"][0]["StatusMessage"] = "Insufficient capacity, trying again"
    job.aws.sagemaker.says = [STARTING, (START_S + 20, later), TRAINING, COMPLETED]
    job.run()
    assert [line.split(" ", 1)[1] for line in job.told[:2]] == [
        "Starting",
        "Starting: Insufficient capacity, trying again",
    ]


def test_the_rate_of_requests_is_bounded() -> None:
    job = Following()
    job.run()
    passed_s = job.clock.now_s - START_S
    assert job.aws.sagemaker.asked / passed_s <= 0.2
    # Two streams, looked at every five seconds.
    assert job.aws.logs.pages / passed_s <= 1


def test_a_job_that_ended_long_ago_is_not_waited_for() -> None:
    job = Following()
    job.clock.now_s = END_S + 3600
    job.run()
    assert job.shown == LINES
    assert job.clock.now_s - END_S - 3600 < 5


def test_a_stream_that_begins_just_before_the_end_is_found() -> None:
    job = Following()
    again = {f"{JOB}/algo-2-2": [at(299.5, "again", late_s=14)]}
    job.aws.logs.lines = {**job.aws.logs.lines, **again}
    job.run()
    assert "[algo-2] again" in job.shown


def test_a_clock_that_is_wrong_hides_no_line_of_a_job_that_was_seen_running() -> None:
    job = Following()
    job.ending[1]["TrainingEndTime"] = datetime.fromtimestamp(END_S - 3600, UTC)
    job.run()
    assert job.shown == LINES


OUTAGE = [AwsUnreachable("no route"), refused("ThrottlingException"), refused("X", status=503)] * 9


@pytest.mark.parametrize("where", ["sagemaker", "logs"])
def test_a_lost_connection_is_borne_and_told_once(where: str) -> None:
    job = Following()
    getattr(job.aws, where).fails = Failing(None, *OUTAGE)
    job.run()
    assert job.shown == LINES
    about = [line for line in job.told if "answer" in line]
    assert about == ["no good answer, trying again: no route", "there is an answer again"]
    assert max(job.clock.waits_s) == 60


def test_an_expired_place_in_a_stream_is_found_again() -> None:
    job = Following()
    job.aws.logs.expires = lambda: job.aws.logs.pages % 3 == 0 and job.aws.logs.pages < 40
    job.aws.logs.pages = 1
    job.run()
    assert job.shown == LINES


def test_expired_credentials_are_replaced_by_those_of_a_new_login() -> None:
    job = Following()
    job.aws.logs.fails = Failing(None, refused("ExpiredTokenException"))
    job.run()
    assert (job.shown, job.reconnected) == (LINES, 1)


@pytest.mark.parametrize(
    "error",
    [refused("ExpiredTokenException"), NoCredentials("no credentials"), refused("AccessDenied")],
)
def test_without_credentials_or_permission_it_says_how_to_go_on(error: AwsError) -> None:
    job = Following()
    job.aws.logs.fails = Failing(None, *[error] * 3)
    with pytest.raises(AwsError) as raised:
        job.run()
    assert raised.value.exit_code is ExitCode.AWS
    assert str(raised.value).endswith(
        "job-1 is not watched any more; if it runs, it goes on. Watch it again: "
        "python -m training.jobs logs -f job-1"
    )


def test_ctrl_c_leaves_the_job_alone_and_says_how_to_follow_and_stop_it() -> None:
    job = Following()

    def interrupt() -> None:
        if job.shown:
            raise KeyboardInterrupt

    job.clock.on_wait = interrupt
    with pytest.raises(Interrupted) as raised:
        job.run()
    assert raised.value.exit_code is ExitCode.INTERRUPTED
    assert str(raised.value) == (
        "watching; job-1 goes on. Watch it again: python -m training.jobs logs -f job-1; end it: "
        "python -m training.jobs stop job-1"
    )


def test_a_name_that_is_not_there_is_wrong_usage() -> None:
    job = Following()
    job.aws.sagemaker.says = []
    with pytest.raises(UsageError, match=r"job-1: SageMaker has no training job of this name"):
        job.run()


def test_a_failure_has_its_reason_and_the_last_lines_of_the_host_that_failed() -> None:
    reason = "AlgorithmError: rank 9 on algo-2 was killed by SIGKILL, exit code: 1"
    job = Following(ending("Failed", "Failed", FailureReason=reason))
    with pytest.raises(JobFailed) as raised:
        job.run()
    assert raised.value.exit_code is ExitCode.JOB_FAILED
    assert str(raised.value).splitlines() == [
        f"job-1 failed: {reason}",
        "Last lines of algo-2:",
        "  two",
        "  early",
    ]


def test_a_stop_with_a_checkpoint_in_the_bucket_tells_how_to_go_on() -> None:
    checkpoints = {"CheckpointConfig": {"S3Uri": "s3://b/out/log-run-7"}}
    job = Following(ending("Stopped", "MaxRuntimeExceeded", **checkpoints))
    job.aws.s3 = FakeS3(["out/log-run-7/job.json", "out/log-run-7/checkpoints/step-4.pt"])
    with pytest.raises(JobCheckpointed) as raised:
        job.run()
    assert raised.value.exit_code is ExitCode.CHECKPOINTED
    assert str(raised.value) == (
        "job-1 was stopped by its time limit (limits.max_run_s), with a checkpoint; to go on: the "
        "same launch command with --resume --name run-7"
    )


def test_a_stop_before_the_first_checkpoint_is_no_checkpoint() -> None:
    checkpoints = {"CheckpointConfig": {"S3Uri": "s3://b/out/log-run-7"}}
    job = Following(ending("Stopped", "Stopped", **checkpoints))
    job.aws.s3 = FakeS3(["out/log-run-7/job.json", "out/log-run-70/checkpoints/step-4.pt"])
    with pytest.raises(Interrupted, match="stopped by request, before there was a checkpoint"):
        job.run()
