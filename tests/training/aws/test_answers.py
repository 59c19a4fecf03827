"""Answers that are not of AWS."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping

import pytest

from tests.training.pretender import IDENTITY, JUNK, Pretender, Reply, environ, pretending
from training.aws.client import new_client, new_session
from training.aws.clients import Clients
from training.aws.cloudformation import read_outputs_from_cloudformation
from training.aws.errors import AwsRefused, AwsUnreachable, ForeignAnswer, translated

QUESTIONS: Mapping[str, Callable[[Clients], object]] = {
    "GetCallerIdentity": lambda clients: clients.sts.identity(),
    "DescribeStacks": lambda clients: clients.cloudformation.stack("One"),
    "GetParameter": lambda clients: clients.ssm.parameter("/one"),
    # Of pages and of lists: without a member, each would look like an account that is empty.
    "DescribeVpcs": lambda clients: clients.ec2.vpcs(),
    "DescribeMountTargets": lambda clients: clients.efs.mount_targets("fs-1"),
    "ListObjectsV2": lambda clients: clients.s3.has_objects("bucket", "data/"),
    "HeadBucket": lambda clients: clients.s3.region("bucket"),
}


@pytest.fixture(scope="module")
def pretender() -> Iterator[Pretender]:
    with pretending(None) as answering:
        yield answering


@pytest.fixture(scope="module")
def clients(pretender: Pretender) -> Iterator[Clients]:
    """Made once for all tests, which takes most of their time."""
    with pytest.MonkeyPatch.context() as environment:
        for name, value in environ(pretender.endpoint).items():
            environment.setenv(name, value)
        made = Clients(new_session(), None, read_timeout_s=0.3, attempts=1)
        for service in ("sts", "cloudformation", "ssm", "ec2", "efs", "s3", "sagemaker", "logs"):
            made.boto(service)
        yield made


@pytest.mark.parametrize(
    ("operation", "junk"),
    [
        (operation, junk)
        for operation in QUESTIONS
        for junk, reply in JUNK.items()
        # Nothing tells a refusal of a HEAD request from another: it has no body.
        if operation != "HeadBucket" or reply.status < 400
    ],
)
def test_what_is_not_of_aws_is_one_error_that_names_request_and_place(
    pretender: Pretender, clients: Clients, operation: str, junk: str
) -> None:
    pretender.reply = JUNK[junk]
    with pytest.raises(ForeignAnswer) as raised:
        QUESTIONS[operation](clients)
    message = str(raised.value)
    place = f"{pretender.endpoint} (us-east-1)"
    assert message.startswith(f"{place}: {operation} was answered (HTTP ")
    assert "but not as AWS does. Is a proxy or captive portal in between?" in message
    assert "\n" not in message


def test_what_came_is_told(pretender: Pretender, clients: Clients) -> None:
    pretender.reply = JUNK["a text"]
    with pytest.raises(ForeignAnswer, match=r"was answered \(HTTP 500, text/plain\), but"):
        clients.sts.identity()


def test_the_outputs_of_the_stacks_are_not_read_from_a_portal(
    pretender: Pretender, clients: Clients
) -> None:
    pretender.reply = JUNK["an empty object"]
    with pytest.raises(ForeignAnswer, match="DescribeStacks was answered"):
        read_outputs_from_cloudformation(clients.boto("cloudformation"), ["One"])


def test_a_client_that_is_used_as_it_is_knows_them_too(
    pretender: Pretender, clients: Clients
) -> None:
    pretender.reply = JUNK["a page"]
    with pytest.raises(ForeignAnswer, match=r"^ListObjectsV2 was answered"), translated():
        clients.boto("s3").list_objects_v2(Bucket="bucket")


@pytest.mark.parametrize("body", [b'{"TrainingJob', b"", b"{}", b"not JSON"])
def test_an_answer_that_was_cut_off_is_none_although_it_has_a_request_id(
    pretender: Pretender, clients: Clients, body: bytes
) -> None:
    pretender.reply = Reply(200, "application/x-amz-json-1.1", body, request_id="r-1")
    for ask in (clients.sagemaker.training_job, clients.sagemaker.training_jobs):
        with pytest.raises(ForeignAnswer, match=r"TrainingJobs? was answered"):
            ask("one")
    # The model of CloudWatch Logs requires no member.
    if body not in (b"", b"{}"):
        with pytest.raises(ForeignAnswer, match="GetLogEvents was answered"):
            clients.logs.page("group", "stream", token=None, since_ms=0)


def test_an_answer_without_a_word_is_taken_where_there_is_nothing_to_say(
    pretender: Pretender, clients: Clients
) -> None:
    pretender.reply = Reply(200, "application/x-amz-json-1.1", b"", request_id="r-1")
    assert clients.sagemaker.stop_training_job("one") is None  # type: ignore[func-returns-value]


def test_an_answer_of_aws_is_taken(pretender: Pretender, clients: Clients) -> None:
    pretender.reply = Reply(200, "text/xml", IDENTITY)
    assert clients.sts.identity().account == "123456789012"


def test_a_refusal_of_aws_stays_one(pretender: Pretender, clients: Clients) -> None:
    body = (
        b"<ErrorResponse><Error><Code>ExpiredToken</Code><Message>Late.</Message></Error>"
        b"<RequestId>r-1</RequestId></ErrorResponse>"
    )
    pretender.reply = Reply(403, "text/xml", body)
    with pytest.raises(AwsRefused, match=r"Late\. \(ExpiredToken, request r-1\)"):
        clients.sts.identity()


def test_a_refusal_without_request_id_is_known_by_its_code(
    pretender: Pretender, clients: Clients
) -> None:
    body = b'{"__type": "ParameterNotFound", "message": "No."}'
    pretender.reply = Reply(400, "application/x-amz-json-1.1", body)
    assert clients.ssm.parameter("/one") is None


def test_a_head_request_is_refused_without_a_word(pretender: Pretender, clients: Clients) -> None:
    pretender.reply = Reply(404, "text/html", b"")
    with pytest.raises(AwsRefused) as raised:
        clients.s3.region("bucket")
    assert raised.value.code == "404"


def test_one_that_listens_and_hangs_is_not_told_as_one_that_does_not_run(
    pretender: Pretender, clients: Clients
) -> None:
    pretender.reply = None
    start = re.escape(f"{pretender.endpoint}: something listens there, but did not answer")
    with pytest.raises(AwsUnreachable, match=start):
        clients.sts.identity()


def test_a_bad_moment_of_a_gateway_is_tried_again(
    pretender: Pretender, clients: Clients, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in environ(pretender.endpoint).items():
        monkeypatch.setenv(name, value)
    pretender.reply = JUNK["a page of a gateway"]
    asked = []
    client = new_client(new_session(), "sts", attempts=2)
    client.meta.events.register("before-send", lambda **_: asked.append(1))
    with pytest.raises(ForeignAnswer), translated():
        client.get_caller_identity()
    assert len(asked) == 2
