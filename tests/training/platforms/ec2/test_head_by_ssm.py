"""Asking the head node by Systems Manager: with a real client, at a server of this machine."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.training.platforms.ec2.planning import CLUSTER
from tests.training.platforms.ec2.ssm_server import SsmServer, serving
from tests.training.platforms.sagemaker.clockwork import Clockwork
from tests.training.pretender import environ
from training.aws.errors import AwsRefused
from training.aws.ssm import Invocation
from training.errors import AwsError, ExitCode, UsageError
from training.outputs import ClusterOutputs
from training.platforms.ec2.answer import (
    AnswerLost,
    ClusterBusy,
    ClusterRefused,
    HeadAway,
    HeadClosed,
)
from training.platforms.ec2.head import Head, connect, head_of
from training.platforms.ec2.head_by_ssm import _answered

CLUSTER_OUTPUTS = ClusterOutputs.from_outputs(CLUSTER, source="outputs.json")


def echo(action: str, request: Any) -> dict[str, Any]:
    return {"action": action, "request": request}


@pytest.fixture
def clock() -> Clockwork:
    return Clockwork()


@pytest.fixture
def told() -> list[str]:
    return []


@pytest.fixture
def ssm(monkeypatch: pytest.MonkeyPatch) -> Iterator[SsmServer]:
    with serving(echo) as server:
        for name, value in environ(server.endpoint).items():
            monkeypatch.setenv(name, value)
        yield server


@pytest.fixture
def head(ssm: SsmServer, clock: Clockwork, told: list[str]) -> Head:
    return head_of(CLUSTER_OUTPUTS, attempts=3, tell=told.append, timer=clock.timer)


def test_what_the_program_prints_comes_back(head: Head, ssm: SsmServer) -> None:
    assert head.ask("status", {"name": "job-é"}, about="job-é") == {
        "action": "status",
        "request": {"name": "job-é"},
    }
    (sent,) = ssm.sent
    assert sent["DocumentName"] == CLUSTER["DocumentName"]
    assert sent["Targets"][0]["Values"] == [CLUSTER["HeadGroupName"]]
    assert sent["Comment"] == "mask-rcnn status job-é"


def test_a_request_without_words_is_an_empty_one(head: Head) -> None:
    assert head.ask("health") == {"action": "health", "request": None}


def test_throttling_is_waited_out_and_told_once(
    head: Head, ssm: SsmServer, clock: Clockwork, told: list[str]
) -> None:
    ssm.throttled = 2
    assert head.ask("list", {"limit": 1})["action"] == "list"
    assert clock.waits_s[:2] == [1.0, 2.0]
    assert len([each for each in told if "trying again" in each]) == 1


def test_more_throttling_than_attempts_is_an_error_of_aws(head: Head, ssm: SsmServer) -> None:
    ssm.throttled = 3
    with pytest.raises(AwsError, match="Rate exceeded") as refused:
        head.ask("list", {"limit": 1})
    assert refused.value.exit_code == ExitCode.AWS


def test_a_lost_answer_is_asked_for_again(head: Head, ssm: SsmServer) -> None:
    ssm.lost_answers = 1
    assert head.ask("submit", {"name": "job-1"})["action"] == "submit"
    # The node's program knows the second by its fingerprint.
    assert len(ssm.sent) == 2
    assert ssm.sent[0] == ssm.sent[1]


@pytest.mark.parametrize(
    ("kind", "error", "exit_code"),
    [
        ("usage", UsageError, ExitCode.USAGE),
        ("not-found", UsageError, ExitCode.USAGE),
        ("not-ready", HeadClosed, ExitCode.AWS),
        ("busy", ClusterBusy, ExitCode.AWS),
        ("failed", ClusterRefused, ExitCode.AWS),
    ],
)
def test_each_refusal_has_an_error_of_its_kind(
    head: Head, ssm: SsmServer, kind: str, error: type[AwsError], exit_code: ExitCode
) -> None:
    ssm.program = lambda *_: {"error": {"kind": kind, "message": "job-0 runs"}}
    with pytest.raises(error, match="job-0 runs") as refused:
        head.ask("submit", {"name": "job-1"})
    assert refused.value.exit_code == exit_code
    assert ("training.jobs list --platform ec2" in str(refused.value)) == (kind == "busy")


@pytest.mark.parametrize(
    ("status", "said"),
    [
        ("Undeliverable", "it cannot be delivered: the node is not there, or does not answer"),
        ("DeliveryTimedOut", "it was not delivered in time"),
        ("Delivery Timed Out", "it was not delivered in time"),
        ("ExecutionTimedOut", "the node's program did not end in time"),
        ("Cancelled", "somebody cancelled it"),
        ("SomethingNew", "SomethingNew"),
    ],
)
def test_a_head_that_cannot_be_reached_is_one_clear_message(
    head: Head, ssm: SsmServer, status: str, said: str
) -> None:
    ssm.ends = status
    with pytest.raises(HeadAway) as away:
        head.ask("status", {"name": "job-1"})
    assert str(away.value) == (
        f"the head node of cluster mask-rcnn does not answer ({said}). If it is being replaced, "
        "try again in some minutes; to see how it is: python -m training.jobs health --platform "
        "ec2"
    )


def test_a_group_without_an_instance_is_told_after_some_seconds(
    head: Head, ssm: SsmServer, clock: Clockwork
) -> None:
    ssm.nobody = True
    begun = clock.now_s
    with pytest.raises(HeadAway, match="Systems Manager manages no instance of the group"):
        head.ask("status", {"name": "job-1"})
    assert 20 <= clock.now_s - begun < 30


def test_a_command_that_nobody_answers_is_taken_back(
    head: Head, ssm: SsmServer, clock: Clockwork
) -> None:
    ssm.statuses = ["InProgress"] * 1000
    begun = clock.now_s
    with pytest.raises(HeadAway, match="it did not answer in time"):
        head.ask("status", {"name": "job-1"}, timeout_s=60)
    assert 60 <= clock.now_s - begun < 70
    assert ssm.cancelled == list(ssm.commands)


def test_a_program_that_is_not_there_yet_is_no_traceback(head: Head, ssm: SsmServer) -> None:
    ssm.ends = "Failed"
    with pytest.raises(HeadAway, match=r"gave no answer that can be read. .*It said: nothing"):
        head.ask("status", {"name": "job-1"})


def test_a_command_whose_answer_may_not_be_read_is_told_from_one_that_was_not_sent(
    head: Head, ssm: SsmServer
) -> None:
    whole = ssm.answer
    denied = {"__type": "AccessDeniedException", "message": "no"}
    ssm.answer = lambda operation, body: (  # type: ignore[method-assign]
        (400, denied) if operation == "ListCommandInvocations" else whole(operation, body)
    )
    with pytest.raises(AnswerLost, match=r"submit was sent, .*ssm:ListCommandInvocations"):
        head.ask("submit", {"name": "job-1"})
    ssm.answer = lambda *_: (400, denied)  # type: ignore[method-assign]
    with pytest.raises(AwsRefused, match="ssm:SendCommand"):
        head.ask("submit", {"name": "job-1"})


def test_while_a_head_is_replaced_the_one_that_answers_well_counts() -> None:
    good, bad = (
        Invocation(instance_id=f"i-{status}", status=status) for status in ("Success", "Failed")
    )
    away = Invocation(instance_id="i-3", status="Undeliverable")
    on_the_way = Invocation(instance_id="i-4", status="InProgress")
    assert _answered([bad, good, on_the_way]) == [good]
    assert _answered([bad, on_the_way]) == []
    assert _answered([bad, away]) == [bad]
    assert _answered([away]) == []


def test_an_answer_that_systems_manager_has_cut_off_is_said_so(head: Head, ssm: SsmServer) -> None:
    ssm.program = lambda *_: {"text": "x" * 24_000}
    with pytest.raises(AwsError, match="longer than the 24,000 bytes"):
        head.ask("logs", {"name": "job-1", "offset": 0})
    # As the agent cuts: at bytes, with its own words at the end.
    whole = ssm.answer
    cut = '{"text": "' + "█" * 7990 + "--output truncated--"
    ssm.answer = lambda operation, body: (  # type: ignore[method-assign]
        (200, {"InstanceId": "i-1", "Status": "Success", "StandardOutputContent": cut})
        if operation == "GetCommandInvocation"
        else whole(operation, body)
    )
    with pytest.raises(AwsError, match="longer than the 24,000 bytes"):
        head.ask("logs", {"name": "job-1", "offset": 0})


def test_a_cluster_that_is_gone_says_which_stack_to_deploy(head: Head, ssm: SsmServer) -> None:
    refuse = {"__type": "InvalidDocument", "message": "Document does not exist"}
    ssm.answer = lambda *_: (400, refuse)  # type: ignore[method-assign]
    with pytest.raises(
        ClusterRefused, match="ClusterStack has no SSM document ClusterStack-Request-GHI"
    ):
        head.ask("status", {"name": "job-1"})


@pytest.mark.usefixtures("ssm")
@pytest.mark.parametrize("attempts", [1, 3])
def test_clients_make_as_many_attempts_as_they_are_told(attempts: int) -> None:
    config = connect(CLUSTER_OUTPUTS, attempts=attempts).boto("autoscaling").meta.config
    assert config.retries == {"mode": "standard", "total_max_attempts": attempts}
