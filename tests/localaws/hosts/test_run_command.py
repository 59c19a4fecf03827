"""Run Command on hosts: what the launcher uses of it."""

from __future__ import annotations

import json
from typing import Any

import pytest
from botocore.exceptions import ClientError

from tests.localaws.hosts.conftest import Cloud
from tests.waiting import wait_for

pytestmark = [pytest.mark.root, pytest.mark.slow]


@pytest.fixture(scope="module")
def document(cloud: Cloud) -> str:
    content = {
        "schemaVersion": "2.2",
        "parameters": {
            "Action": {"type": "String", "allowedValues": ["say", "fail"]},
            "Request": {"type": "String", "default": "", "allowedPattern": "^[A-Za-z0-9=]{0,40}$"},
        },
        "mainSteps": [
            {
                "action": "aws:runShellScript",
                "name": "run",
                "inputs": {"runCommand": ["echo {{ Action }} '{{Request}}'; [ {{Action}} = say ]"]},
            }
        ],
    }
    ssm = cloud.aws.client("ssm")
    ssm.create_document(Content=json.dumps(content), Name="try-it", DocumentType="Command")
    return "try-it"


def send(cloud: Cloud, document: str, **more: Any) -> str:
    sent = cloud.aws.client("ssm").send_command(DocumentName=document, **more)
    return sent["Command"]["CommandId"]


def test_runs_a_document_with_its_parameters(cloud: Cloud, host: str, document: str) -> None:
    parameters = {"Action": ["say"], "Request": ["abc="]}
    id_ = send(cloud, document, InstanceIds=[host], Parameters=parameters)
    found = cloud.outcome(id_, host)
    assert (found["StatusDetails"], found["ResponseCode"]) == ("Success", 0)
    assert found["StandardOutputContent"] == "say abc=\n"
    id_ = send(cloud, document, InstanceIds=[host], Parameters={"Action": ["fail"]})
    found = cloud.outcome(id_, host)
    assert (found["StatusDetails"], found["ResponseCode"]) == ("Failed", 1)


@pytest.mark.parametrize(
    "parameters",
    [
        {},
        {"Action": ["other"]},
        {"Action": ["say"], "Request": ["$(reboot)"]},
        {"Action": ["say", "say"]},
        {"Action": ["say"], "Other": ["x"]},
    ],
)
def test_refuses_what_the_document_does_not_allow(
    cloud: Cloud, host: str, document: str, parameters: dict[str, list[str]]
) -> None:
    with pytest.raises(ClientError) as refused:
        send(cloud, document, InstanceIds=[host], Parameters=parameters)
    assert refused.value.response["Error"]["Code"] == "InvalidParameters"


def test_finds_nodes_by_tag(cloud: Cloud, document: str) -> None:
    first, second = (each["InstanceId"] for each in cloud.launch(count=2))
    ec2, ssm = cloud.aws.client("ec2"), cloud.aws.client("ssm")
    ec2.create_tags(Resources=[second], Tags=[{"Key": "aws:role", "Value": "head"}])
    target = [{"Key": "tag:aws:role", "Values": ["head"]}]
    id_ = send(cloud, document, Targets=target, Parameters={"Action": ["say"]})
    assert cloud.outcome(id_, second)["StandardOutputContent"] == "say \n"
    listed = ssm.list_command_invocations(CommandId=id_, Details=True)["CommandInvocations"]
    assert [(each["InstanceId"], each["StatusDetails"]) for each in listed] == [(second, "Success")]
    assert listed[0]["CommandPlugins"][0]["Output"] == "say \n"
    nobody = [{"Key": "tag:aws:role", "Values": ["tail"]}]
    id_ = send(cloud, document, Targets=nobody, Parameters={"Action": ["say"]})
    (command,) = ssm.list_commands(CommandId=id_)["Commands"]
    assert (command["StatusDetails"], command["TargetCount"]) == ("NoInstancesInTag", 0)
    ec2.terminate_instances(InstanceIds=[first, second])
    with pytest.raises(ClientError, match="InvalidInstanceId"):
        send(cloud, document, InstanceIds=[first], Parameters={"Action": ["say"]})


def test_cuts_long_output_as_ssm_does(cloud: Cloud, host: str) -> None:
    id_ = cloud.send(host, "head -c 30000 /dev/zero | tr '\\0' x")
    said = cloud.outcome(id_, host)["StandardOutputContent"]
    assert len(said) == 24_000
    assert said.endswith("---Output truncated---")


def test_ends_what_takes_too_long_or_is_cancelled(cloud: Cloud, host: str) -> None:
    id_ = cloud.send(host, "sleep 60", executionTimeout=["1"])
    assert cloud.outcome(id_, host)["StatusDetails"] == "ExecutionTimedOut"
    ssm = cloud.aws.client("ssm")
    id_ = cloud.send(host, "echo $$ >/run/sleeper; sleep 61")
    cloud.run(host, "for _ in $(seq 50); do [ -s /run/sleeper ] && exit; sleep 0.1; done; exit 1")
    ssm.cancel_command(CommandId=id_)
    assert cloud.outcome(id_, host)["StatusDetails"] == "Cancelled"
    gone = cloud.send(host, "[ ! -e /proc/$(cat /run/sleeper) ]")
    assert wait_for(lambda: cloud.outcome(gone, host), "the end")["Status"] == "Success"


def test_describes_the_nodes_that_answer(cloud: Cloud, host: str) -> None:
    filters = [{"Key": "InstanceIds", "Values": [host]}]
    (node,) = cloud.aws.client("ssm").describe_instance_information(Filters=filters)[
        "InstanceInformationList"
    ]
    assert (node["InstanceId"], node["PingStatus"]) == (host, "Online")
