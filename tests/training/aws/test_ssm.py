"""Commands of Systems Manager, with answers that botocore's model takes for the service's."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any

import boto3
import pytest
from botocore.stub import Stubber

from training.aws.errors import AwsRefused
from training.aws.ssm import Invocation, Ssm

COMMAND = "01234567-0123-0123-0123-0123456789ab"
NODE = "i-0123456789abcdef0"


@cache
def client() -> Any:
    return boto3.client(
        "ssm",
        region_name="us-east-1",
        aws_access_key_id="key",
        aws_secret_access_key="secret",
    )


@pytest.fixture
def stubber() -> Iterator[Stubber]:
    with Stubber(client()) as stubbed:
        yield stubbed
        stubbed.assert_no_pending_responses()


def test_a_command_is_sent_as_it_is_and_known_by_its_id(stubber: Stubber) -> None:
    body = {"DocumentName": "D", "Parameters": {"Action": ["list"]}}
    stubber.add_response("send_command", {"Command": {"CommandId": COMMAND}}, body)
    assert Ssm(client()).send_command(body) == COMMAND


@pytest.mark.parametrize(
    ("commands", "expected"),
    [
        ([], None),
        ([{"Status": "Success", "StatusDetails": "NoInstancesInTag"}], "NoInstancesInTag"),
        ([{"Status": "TimedOut", "StatusDetails": "Delivery Timed Out"}], "DeliveryTimedOut"),
        ([{"Status": "Pending"}], "Pending"),
    ],
)
def test_the_status_of_a_command_is_its_details(
    stubber: Stubber, commands: list[dict[str, str]], expected: str | None
) -> None:
    stubber.add_response("list_commands", {"Commands": commands}, {"CommandId": COMMAND})
    assert Ssm(client()).command_status(COMMAND) == expected


def test_the_nodes_of_a_command_come_from_all_pages(stubber: Stubber) -> None:
    pages = [
        {
            "CommandInvocations": [
                {
                    "InstanceId": f"{NODE[:-1]}{number}",
                    "Status": "InProgress",
                    "StatusDetails": word,
                }
            ],
            **({"NextToken": "more"} if number == 1 else {}),
        }
        for number, word in ((1, "InProgress"), (2, "Delayed"))
    ]
    stubber.add_response("list_command_invocations", pages[0], {"CommandId": COMMAND})
    stubber.add_response(
        "list_command_invocations", pages[1], {"CommandId": COMMAND, "NextToken": "more"}
    )
    assert [each.status for each in Ssm(client()).invocations(COMMAND)] == ["InProgress", "Delayed"]


def test_what_a_node_said_is_there_once_it_has_got_there(stubber: Stubber) -> None:
    asked = {"CommandId": COMMAND, "InstanceId": NODE}
    stubber.add_client_error(
        "get_command_invocation", "InvocationDoesNotExist", expected_params=asked
    )
    stubber.add_response(
        "get_command_invocation",
        {
            "Status": "Failed",
            "StatusDetails": "Failed",
            "StandardOutputContent": "{}",
            "StandardErrorContent": "exit status 1",
        },
        asked,
    )
    ssm = Ssm(client())
    assert ssm.invocation(COMMAND, NODE) is None
    assert ssm.invocation(COMMAND, NODE) == Invocation(
        instance_id=NODE, status="Failed", output="{}", errors="exit status 1"
    )


def test_another_refusal_names_the_action(stubber: Stubber) -> None:
    stubber.add_client_error("get_command_invocation", "AccessDeniedException", "No.")
    with pytest.raises(AwsRefused) as refused:
        Ssm(client()).invocation(COMMAND, NODE)
    assert refused.value.action == "ssm:GetCommandInvocation"


def test_managed_nodes_are_told_by_their_ids(stubber: Stubber) -> None:
    found = {"InstanceId": NODE, "PingStatus": "Online"}
    stubber.add_response(
        "describe_instance_information",
        {"InstanceInformationList": [found]},
        {"Filters": [{"Key": "InstanceIds", "Values": [NODE]}]},
    )
    assert Ssm(client()).nodes([NODE]) == {NODE: found}
