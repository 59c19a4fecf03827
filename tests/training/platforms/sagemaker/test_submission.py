"""One request makes one job, whatever becomes of the answers."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import Any

import pytest

from tests.training.platforms.sagemaker.clockwork import Clockwork
from tests.training.platforms.sagemaker.sagemaker_server import (
    BROKEN,
    EXPIRED,
    THROTTLED,
    Fault,
    Refusal,
    Server,
    serving,
)
from training.errors import AwsError, ExitCode, Interrupted, UsageError
from training.platforms.sagemaker.fingerprint import fingerprint_of, with_fingerprint
from training.platforms.sagemaker.state import JobState
from training.platforms.sagemaker.submission import ATTEMPTS, submit

CREATE, DESCRIBE = "CreateTrainingJob", "DescribeTrainingJob"


def body(name: str = "job-1", *, seed: int = 0) -> dict[str, Any]:
    return with_fingerprint(
        {
            "TrainingJobName": name,
            "RoleArn": "arn:aws:iam::123456789012:role/training",
            "HyperParameters": {"seed": str(seed), "odd": "'$(touch x)'\n\u00e9"},
            "OutputDataConfig": {"S3OutputPath": "s3://bucket/out"},
            "Environment": {"MASK_RCNN_ALGORITHM": "horovod"},
        }
    )


@pytest.fixture
def server() -> Iterator[Server]:
    with serving() as running:
        yield running


class Sender:
    """Somebody who launches."""

    def __init__(self, server: Server) -> None:
        self.clock = Clockwork()
        self.told: list[str] = []
        self._clients = server.clients()

    def send(self, request: dict[str, Any]) -> JobState | None:
        return submit(self._clients, request, tell=self.told.append, timer=self.clock.timer)


@pytest.fixture
def sender(server: Server) -> Sender:
    return Sender(server)


def test_the_body_is_sent_as_it_is_and_once(server: Server, sender: Sender) -> None:
    sender.send(body())
    assert server.asked == [(CREATE, body())]
    assert (sender.told, sender.clock.waits_s) == ([], [])


@pytest.mark.parametrize("fault", [Fault.LOST_AFTER, Fault.GATEWAY])
def test_a_lost_answer_is_looked_for_before_anything_is_sent_again(
    server: Server, sender: Sender, fault: Fault
) -> None:
    server.script(CREATE, [fault])
    sender.send(body())
    assert [name for name, _ in server.asked] == [CREATE, DESCRIBE]
    assert sender.told == ["the answer was lost, but training job job-1 is there"]


@pytest.mark.parametrize("fault", [Fault.LOST_BEFORE, BROKEN])
def test_a_request_that_did_nothing_is_sent_again(
    server: Server, sender: Sender, fault: Fault | Refusal
) -> None:
    server.script(CREATE, [fault])
    sender.send(body())
    assert [name for name, _ in server.asked] == [CREATE, DESCRIBE, CREATE]
    assert (list(server.jobs), sender.clock.waits_s) == (["job-1"], [1.0])


def test_a_lost_answer_and_a_look_that_fails_still_make_one_job(
    server: Server, sender: Sender
) -> None:
    server.script(CREATE, [Fault.LOST_AFTER])
    server.script(DESCRIBE, [THROTTLED, Fault.LOST_BEFORE])
    sender.send(body())
    # The second request is refused, since the name is taken; the job is found to be ours then.
    assert [name for name, _ in server.asked] == [CREATE, DESCRIBE] * 3
    assert list(server.jobs) == ["job-1"]


def test_throttling_is_borne_with_growing_pauses(server: Server, sender: Sender) -> None:
    server.script(CREATE, [THROTTLED] * 5)
    sender.send(body())
    assert sender.clock.waits_s == [1, 2, 4, 8, 16]
    assert (len(server.sent(CREATE)), server.sent(DESCRIBE)) == (6, [])
    assert sender.told[0].startswith("trying again in 1 s: CreateTrainingJob: Rate exceeded")


def test_throttling_without_end_is_told_with_what_was_started(
    server: Server, sender: Sender
) -> None:
    server.always[CREATE] = THROTTLED
    with pytest.raises(AwsError, match=r"wait a minute.*\. No training job job-1 was started$"):
        sender.send(body())
    assert len(server.sent(CREATE)) == ATTEMPTS


def test_answers_that_never_come_leave_it_open_whether_there_is_a_job(
    server: Server, sender: Sender
) -> None:
    server.always[CREATE] = server.always[DESCRIBE] = Fault.LOST_BEFORE
    with pytest.raises(AwsError) as raised:
        sender.send(body())
    assert raised.value.exit_code is ExitCode.AWS
    assert str(raised.value).endswith(
        "Whether training job job-1 was started is not known. Before you launch it again, look: "
        "python -m training.jobs status job-1"
    )


REFUSALS = {
    "expired": (EXPIRED, "log in again (aws sso login)"),
    "denied": (Refusal("AccessDeniedException"), "(sagemaker:CreateTrainingJob)"),
    "may not pass the role": (
        Refusal(
            "AccessDeniedException",
            "User: u is not authorized to perform: iam:PassRole on resource: r",
        ),
        "not authorized to perform: iam:PassRole on resource: r",
    ),
    "no quota": (
        Refusal(
            "ResourceLimitExceeded",
            "The account-level service limit 'ml.p3.16xlarge for training job usage' is 2 "
            "Instances, with current utilization of 1 Instances and a request delta of 4 "
            "Instances. Please contact AWS support to request an increase for this limit.",
        ),
        "the quota 'ml.p3.16xlarge for training job usage' is 2 of 5 needed (4 for this job, 1 in "
        "use). Ask for 5 in Service Quotas",
    ),
    "another quota": (Refusal("ResourceLimitExceeded", "Too many."), "Ask for a higher quota"),
    "invalid": (
        Refusal("ValidationException", "1 validation error detected: Value 'x' at 'volume'"),
        "CreateTrainingJob: 1 validation error detected: Value 'x' at 'volume' "
        "(ValidationException, request r-1)",
    ),
}


@pytest.mark.parametrize("case", REFUSALS)
def test_a_refusal_is_one_message_and_starts_nothing(
    server: Server, sender: Sender, case: str
) -> None:
    refusal, said = REFUSALS[case]
    server.script(CREATE, [refusal])
    with pytest.raises(AwsError) as raised:
        sender.send(body())
    assert said in str(raised.value)
    assert str(raised.value).endswith(". No training job job-1 was started")
    assert raised.value.exit_code is ExitCode.AWS
    assert (len(server.asked), server.jobs, sender.clock.waits_s) == (1, {}, [])


def test_an_endpoint_that_is_down_starts_nothing() -> None:
    with serving() as gone:
        sender = Sender(gone)
    with pytest.raises(AwsError, match=r"no local AWS answers.*No training job job-1 was started$"):
        sender.send(body())
    assert sum(sender.clock.waits_s) == 63


def test_credentials_that_expire_after_a_lost_answer_leave_it_open(
    server: Server, sender: Sender
) -> None:
    server.script(CREATE, [Fault.LOST_AFTER, EXPIRED])
    server.always[DESCRIBE] = EXPIRED
    with pytest.raises(AwsError, match=r"aws sso login.* is not known\."):
        sender.send(body())


def test_the_same_request_again_finds_its_job(server: Server, sender: Sender) -> None:
    sender.send(body())
    sender.send(body())
    assert sender.told == [
        "training job job-1 is there already, from the same request (InProgress): no other was "
        "started"
    ]


def test_a_job_that_has_ended_is_told_of_as_that(server: Server, sender: Sender) -> None:
    assert sender.send(body()) is None
    server.jobs["job-1"]["TrainingJobStatus"] = "Stopped"
    found = sender.send(body())
    assert found is not None
    assert (found.name, found.status) == ("job-1", "stopped")
    assert sender.told == [
        "training job job-1 is there already, from the same request (Stopped): no other was "
        "started; for another, give another --name"
    ]


def test_another_request_of_the_same_name_is_refused_and_both_are_named(
    server: Server, sender: Sender
) -> None:
    sender.send(body())
    with pytest.raises(UsageError) as raised:
        sender.send(body(seed=1))
    message = str(raised.value)
    for request in (body(), body(seed=1)):
        assert (fingerprint_of(request) or "")[:12] in message
    assert "of 2023-11-14 22:13 UTC" in message
    assert "Give another --name" in message


def test_a_name_taken_by_a_job_of_another_program_is_refused(
    server: Server, sender: Sender
) -> None:
    server.jobs["job-1"] = {"TrainingJobName": "job-1"}
    with pytest.raises(UsageError, match=r"another job \(not of this program; "):
        sender.send(body())


def test_a_name_taken_by_a_job_that_may_not_be_seen_is_refused(
    server: Server, sender: Sender
) -> None:
    server.jobs["job-1"] = {"TrainingJobName": "job-1"}
    server.always[DESCRIBE] = Refusal("AccessDeniedException")
    with pytest.raises(UsageError, match="taken by a job that your identity may not see"):
        sender.send(body())


@pytest.mark.parametrize("seeds", [(0, 0), (0, 1)])
def test_two_launches_at_once_make_one_job(server: Server, seeds: tuple[int, int]) -> None:
    senders = [Sender(server), Sender(server)]
    together = threading.Barrier(2)
    failed: list[UsageError] = []

    def launch(sender: Sender, seed: int) -> None:
        together.wait()
        try:
            sender.send(body(seed=seed))
        except UsageError as error:
            failed.append(error)

    threads = [
        threading.Thread(target=launch, args=each) for each in zip(senders, seeds, strict=True)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert list(server.jobs) == ["job-1"]
    # The same job is joined by both, another is the mistake of whoever came second.
    assert len(failed) == (seeds[0] != seeds[1])
    told = [line for sender in senders for line in sender.told]
    assert len(told) == (seeds[0] == seeds[1])


@pytest.mark.parametrize(
    ("faults", "said"),
    [
        ([THROTTLED], "No training job job-1 was started"),
        ([Fault.LOST_BEFORE], "Whether training job job-1 was started is not known"),
    ],
)
def test_an_interruption_tells_whether_there_may_be_a_job(
    server: Server, sender: Sender, faults: list[Fault | Refusal], said: str
) -> None:
    def interrupt() -> None:
        raise KeyboardInterrupt

    server.script(CREATE, faults)
    sender.clock.on_wait = interrupt
    with pytest.raises(Interrupted, match=f"^{said}") as raised:
        sender.send(body())
    assert raised.value.exit_code is ExitCode.INTERRUPTED
