"""Sending a plan: one job, whatever becomes of the answers."""

from __future__ import annotations

import pytest

from tests.training.platforms.ec2.fake_head import Answer, FakeHead, status
from tests.training.platforms.ec2.planning import request
from tests.training.platforms.sagemaker.clockwork import Clockwork
from training.aws.errors import AwsRefused, AwsUnreachable
from training.errors import AwsError, Interrupted, JobCheckpointed, JobFailed, UsageError
from training.platforms.api import Ending
from training.platforms.ec2.answer import AnswerLost, ClusterBusy, HeadAway, HeadClosed
from training.platforms.ec2.sending import send


def sent(head: FakeHead, *, wait: bool = False) -> tuple[Ending, list[str]]:
    shown: list[str] = []
    ending = send(
        request(name="job-1"), wait=wait, head=head, show=shown.append, timer=Clockwork().timer
    )
    return ending, shown


def test_without_wait_it_is_submitted_once_the_head_node_has_taken_it(
    capsys: pytest.CaptureFixture[str],
) -> None:
    head = FakeHead({"submit": [status("queued", reason="behind job-0")]})
    assert sent(head) == ("submitted", [])
    assert head.asked == [("submit", request(name="job-1").document)]
    said = capsys.readouterr().err
    assert said == (
        "job-1 is queued. Follow it: python -m training.jobs logs -f job-1 --platform ec2\n"
    )


def test_with_wait_it_is_followed_to_its_end() -> None:
    head = FakeHead(
        {"submit": [status("running")], "status": [status("running"), status("completed")]},
        text=b"total_loss: 1\n",
    )
    assert sent(head, wait=True) == ("completed", ["total_loss: 1"])


@pytest.mark.parametrize(
    ("end", "error"),
    [(status("failed"), JobFailed), (status("checkpointed"), JobCheckpointed)],
)
def test_with_wait_the_end_is_the_jobs_own(end: Answer, error: type[Exception]) -> None:
    head = FakeHead({"submit": [status("running")], "status": [end]})
    with pytest.raises(error):
        sent(head, wait=True)


def test_the_same_request_whose_job_has_ended_starts_no_other(
    capsys: pytest.CaptureFixture[str],
) -> None:
    ended = status("completed")
    head = FakeHead({"submit": [ended], "status": [ended]}, text=b"one\n")
    assert sent(head) == ("completed", [])
    assert "is there already, from the same request (completed)" in capsys.readouterr().err


@pytest.mark.parametrize(
    "error",
    [
        ClusterBusy("job-0 runs"),
        HeadClosed("/efs is not mounted yet"),
        UsageError("the name job-1 is taken"),
        AwsRefused("no", operation="SendCommand", code="AccessDenied", request_id="r"),
        AwsUnreachable("no network"),
    ],
)
def test_a_refusal_is_told_as_it_is(error: Exception) -> None:
    with pytest.raises(type(error)) as refused:
        sent(FakeHead({"submit": [error]}))
    assert str(refused.value) == str(error)


def unreachable() -> AwsUnreachable:
    error = AwsUnreachable("the line went dead")
    error.may_have_arrived = True
    return error


@pytest.mark.parametrize(
    "error",
    [
        HeadAway("nobody there"),
        AnswerLost("submit was sent, and its answer cannot be had: no network"),
        unreachable(),
        AwsRefused("500", operation="SendCommand", code="E", request_id="r", status=500),
    ],
)
def test_where_it_may_be_there_the_message_says_how_to_look(error: Exception) -> None:
    with pytest.raises(AwsError) as unknown:
        sent(FakeHead({"submit": [error]}))
    assert str(unknown.value) == (
        f"{error}. Whether job-1 was started is not known. Before you launch it again, look: "
        "python -m training.jobs status job-1 --platform ec2"
    )


def test_ctrl_c_while_it_is_sent_says_how_to_look() -> None:
    with pytest.raises(Interrupted, match="Whether job-1 was started is not known"):
        sent(FakeHead({"submit": [KeyboardInterrupt()]}))
