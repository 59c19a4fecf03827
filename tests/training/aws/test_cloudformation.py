"""The stacks' outputs from CloudFormation."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
import time
from datetime import UTC, datetime
from typing import Any

import boto3
import pytest
from botocore.stub import Stubber

from tests.conftest import ROOT, LocalAws
from training.aws.client import new_client, new_session
from training.aws.cloudformation import CloudFormation, read_outputs_from_cloudformation
from training.aws.errors import AwsRefused, AwsUnreachable
from training.errors import AwsError, UsageError
from training.outputs import NetworkOutputs

REGISTRY = {
    "AWSTemplateFormatVersion": "2010-09-09",
    "Resources": {"Vpc": {"Type": "AWS::EC2::VPC", "Properties": {"CidrBlock": "10.9.0.0/16"}}},
    "Outputs": {"VpcId": {"Value": {"Ref": "Vpc"}}, "Name": {"Value": "mine"}},
}


@pytest.fixture
def local_client(local_aws: LocalAws, monkeypatch: pytest.MonkeyPatch) -> Any:
    for name, value in local_aws.env.items():
        monkeypatch.setenv(name, value)
    return new_client(new_session(), "cloudformation")


def stubbed(status: str, reason: str = "") -> tuple[Any, Stubber]:
    client = boto3.client(
        "cloudformation",
        region_name="eu-west-1",
        aws_access_key_id="key",
        aws_secret_access_key="secret",
    )
    stack = {
        "StackName": "One",
        "CreationTime": datetime(2026, 1, 1, tzinfo=UTC),
        "StackStatus": status,
        "StackStatusReason": reason,
        "Outputs": [{"OutputKey": "A", "OutputValue": "a"}],
    }
    stubber = Stubber(client)
    stubber.add_response("describe_stacks", {"Stacks": [stack]}, {"StackName": "One"})
    return client, stubber


def test_outputs_are_read_and_a_missing_stack_is_left_out(
    local_client: Any, local_aws: LocalAws
) -> None:
    local_client.create_stack(StackName="Read", TemplateBody=json.dumps(REGISTRY))
    outputs = read_outputs_from_cloudformation(local_client, ["Read", "NetworkStack-missing"])
    assert set(outputs.stacks) == {"Read"}
    assert outputs.stacks["Read"]["Name"] == "mine"
    assert outputs.stacks["Read"]["VpcId"].startswith("vpc-")
    assert outputs.source == f"{local_aws.endpoint} (us-east-1)"
    with pytest.raises(UsageError, match=r"NetworkStack is not there .*cdk deploy NetworkStack"):
        outputs.read(NetworkOutputs)
    local_client.delete_stack(StackName="Read")


def test_what_a_stack_holds_and_says_of_itself_is_read(local_client: Any) -> None:
    template = REGISTRY | {"Metadata": {"Ours": {"key": "text"}}}
    local_client.create_stack(StackName="Held", TemplateBody=json.dumps(template))
    cloudformation = CloudFormation(local_client)
    assert cloudformation.resource_ids("Held") == {cloudformation.outputs("Held")["VpcId"]}
    assert cloudformation.metadata("Held") == {"Ours": {"key": "text"}}
    local_client.update_stack(StackName="Held", TemplateBody=json.dumps(REGISTRY | {"Outputs": {}}))
    assert cloudformation.metadata("Held") == {}
    local_client.delete_stack(StackName="Held")
    assert cloudformation.resource_ids("Held") == frozenset()


def test_what_is_deleted_is_no_longer_held() -> None:
    client, _ = stubbed("CREATE_COMPLETE")
    resources = [
        {
            "LogicalResourceId": "A",
            "PhysicalResourceId": "vpc-1",
            "ResourceStatus": "CREATE_COMPLETE",
        },
        {
            "LogicalResourceId": "B",
            "PhysicalResourceId": "vpc-2",
            "ResourceStatus": "DELETE_COMPLETE",
        },
        {"LogicalResourceId": "C", "ResourceStatus": "CREATE_IN_PROGRESS"},
    ]
    summaries = [
        {
            **each,
            "ResourceType": "AWS::EC2::VPC",
            "LastUpdatedTimestamp": datetime(2026, 1, 1, tzinfo=UTC),
        }
        for each in resources
    ]
    stubber = Stubber(client)
    stubber.add_response("list_stack_resources", {"StackResourceSummaries": summaries})
    stubber.add_client_error("list_stack_resources", "AccessDenied", "no")
    with stubber:
        assert CloudFormation(client).resource_ids("One") == {"vpc-1"}
        with pytest.raises(AwsRefused):
            CloudFormation(client).resource_ids("One")


@pytest.mark.parametrize(
    "status",
    ["CREATE_COMPLETE", "UPDATE_COMPLETE", "UPDATE_ROLLBACK_COMPLETE"],
)
def test_complete_stack_is_read(status: str) -> None:
    client, stubber = stubbed(status)
    with stubber:
        outputs = read_outputs_from_cloudformation(client, ["One"])
    assert outputs.stacks == {"One": {"A": "a"}}
    assert outputs.source == "AWS in eu-west-1"


@pytest.mark.parametrize(
    ("status", "remedy"),
    [
        ("CREATE_IN_PROGRESS", "Wait until it is done"),
        ("UPDATE_ROLLBACK_IN_PROGRESS", "Wait until it is done"),
        ("DELETE_IN_PROGRESS", "Wait until it is done"),
        ("ROLLBACK_COMPLETE", "cdk destroy One"),
        ("CREATE_FAILED", "cdk destroy One"),
        ("DELETE_FAILED", "cdk destroy One"),
        ("DELETE_COMPLETE", "Deploy it: cdk deploy One"),
        ("UPDATE_ROLLBACK_FAILED", "cdk rollback One"),
    ],
)
def test_stack_in_between_is_an_error_with_status_reason_and_remedy(
    status: str, remedy: str
) -> None:
    client, stubber = stubbed(status, "Bucket: no")
    with stubber, pytest.raises(AwsError) as raised:
        read_outputs_from_cloudformation(client, ["One"])
    assert str(raised.value).startswith(f"AWS in eu-west-1: One is {status} (Bucket: no). ")
    assert remedy in str(raised.value)


def test_stack_of_an_unexecuted_change_set_is_not_there() -> None:
    client, stubber = stubbed("REVIEW_IN_PROGRESS")
    with stubber:
        assert read_outputs_from_cloudformation(client, ["One"]).stacks == {}


def test_refusal_is_not_taken_for_a_missing_stack() -> None:
    client, stubber = stubbed("CREATE_COMPLETE")
    stubber = Stubber(client)
    stubber.add_client_error("describe_stacks", "AccessDenied", "Stack One does not exist for you")
    with stubber, pytest.raises(AwsRefused, match="AccessDenied"):
        read_outputs_from_cloudformation(client, ["One"])


def test_no_such_local_aws_is_an_error_soon(
    local_aws: LocalAws, monkeypatch: pytest.MonkeyPatch
) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    for name, value in local_aws.env.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("AWS_ENDPOINT_URL", f"http://127.0.0.1:{port}")
    client = new_client(new_session(), "cloudformation")
    begin = time.monotonic()
    with pytest.raises(AwsUnreachable, match="no local AWS answers"):
        read_outputs_from_cloudformation(client, ["One"])
    assert time.monotonic() - begin < 10


def test_importing_the_edge_imports_no_boto() -> None:
    script = (
        "import sys; import training.aws.client, training.aws.cloudformation, training.aws.errors; "
        "print([name for name in sys.modules if name.startswith('boto')])"
    )
    answer = subprocess.run(
        [sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert answer.stdout == "[]\n"
