"""The head node, and the way to it."""

from __future__ import annotations

from typing import Any

import pytest

from tests.training.preflight.stacks.conftest import (
    ACCOUNT,
    IDENTITY,
    REGION,
    Stub,
    codes_of,
    findings_of,
    only_finding_of,
)
from training.aws.autoscaling import AutoScaling
from training.aws.iam import Iam
from training.aws.logs import Logs
from training.aws.ssm import Ssm
from training.preflight.job.ec2.account import AccountIsTheClusters
from training.preflight.job.ec2.caller import CallerMayAsk
from training.preflight.job.ec2.head import DocumentIsThere, HeadIsThere
from training.preflight.job.ec2.name import NameIsNew

GROUP = "cluster-head"


def heads(stub: Stub, *states: str, is_there: bool = True) -> AutoScaling:
    instances = [
        {
            "InstanceId": f"i-{number}",
            "AvailabilityZone": "us-east-1a",
            "LifecycleState": state,
            "HealthStatus": "Healthy",
            "ProtectedFromScaleIn": False,
        }
        for number, state in enumerate(states)
    ]
    group = {
        "AutoScalingGroupName": GROUP,
        **{"MinSize": 1, "MaxSize": 1, "DesiredCapacity": 1, "DefaultCooldown": 300},
        "AvailabilityZones": ["us-east-1a"],
        "HealthCheckType": "EC2",
        "CreatedTime": 0,
        "Instances": instances,
    }
    answer = {"AutoScalingGroups": [group] if is_there else []}
    request = {"AutoScalingGroupNames": [GROUP]}
    return AutoScaling(stub("autoscaling", ("describe_auto_scaling_groups", answer, request)))


def managed(stub: Stub, *pings: str) -> Ssm:
    """Answer for i-0, i-1, …; a node that is not known has no text."""
    names = [f"i-{number}" for number, _ in enumerate(pings)]
    listed = [
        {"InstanceId": name, "PingStatus": ping}
        for name, ping in zip(names, pings, strict=True)
        if ping
    ]
    request = {"Filters": [{"Key": "InstanceIds", "Values": names}]}
    answer = {"InstanceInformationList": listed}
    return Ssm(stub("ssm", ("describe_instance_information", answer, request)))


def test_a_head_that_is_online_passes(stub: Stub) -> None:
    check = HeadIsThere(heads(stub, "InService"), managed(stub, "Online"), GROUP, by_ssm=True)
    assert codes_of(check) == []


def test_while_one_is_replaced_either_will_do(stub: Stub) -> None:
    both = heads(stub, "InService", "InService")
    check = HeadIsThere(both, managed(stub, "ConnectionLost", "Online"), GROUP, by_ssm=True)
    assert codes_of(check) == []


@pytest.mark.parametrize(
    ("ping", "said"), [("ConnectionLost", "(i-0: ConnectionLost)"), ("", "(i-0: not known)")]
)
def test_a_head_that_systems_manager_does_not_reach_is_an_error(
    stub: Stub, ping: str, said: str
) -> None:
    check = HeadIsThere(heads(stub, "InService"), managed(stub, ping), GROUP, by_ssm=True)
    finding = only_finding_of(check, "head-not-reached")
    assert said in finding.message
    assert finding.severity == "error"


def test_over_ssh_systems_manager_is_not_asked(stub: Stub) -> None:
    assert codes_of(HeadIsThere(heads(stub, "InService"), Ssm(None), GROUP, by_ssm=False)) == []


@pytest.mark.parametrize(
    ("states", "is_there", "said"),
    [
        ([], True, "has no head node in service (cluster-head): AWS may be starting one"),
        (["Pending"], True, "has no head node in service"),
        ([], False, "there is no auto-scaling group cluster-head in this account and region"),
    ],
)
def test_no_head_is_an_error(stub: Stub, states: list[str], *, is_there: bool, said: str) -> None:
    groups = heads(stub, *states, is_there=is_there)
    check = HeadIsThere(groups, Ssm(None), GROUP, by_ssm=True)
    assert said in only_finding_of(check, "head-missing").message


def document(stub: Stub, answer: dict[str, Any] | str) -> DocumentIsThere:
    return DocumentIsThere(
        Ssm(stub("ssm", ("describe_document", answer, {"Name": "Request"}))), "Request"
    )


def test_the_document_must_be_active(stub: Stub) -> None:
    assert codes_of(document(stub, {"Document": {"Status": "Active"}})) == []
    gone = only_finding_of(document(stub, "InvalidDocument"), "document-missing")
    assert gone.message.startswith("Systems Manager has no document Request: deploy ClusterStack")
    going = only_finding_of(
        document(stub, {"Document": {"Status": "Deleting"}}), "document-missing"
    )
    assert "no document Request that is active (Deleting)" in going.message


@pytest.mark.parametrize(("streams", "codes"), [([], []), (["job-1/run"], ["job-name-used"])])
def test_a_name_that_has_lines_is_told(stub: Stub, streams: list[str], codes: list[str]) -> None:
    answer = {"logStreams": [{"logStreamName": name} for name in streams]}
    request = {"logGroupName": "/mask-rcnn/cluster", "logStreamNamePrefix": "job-1/"}
    # Not among those that the other checks ask.
    logs = Logs(stub("logs", ("describe_log_streams", answer, request)))
    assert codes_of(NameIsNew(logs, "/mask-rcnn/cluster", "job-1")) == codes


def test_credentials_of_another_account_are_an_error() -> None:
    assert findings_of(AccountIsTheClusters(ACCOUNT, ACCOUNT)) == []
    finding = only_finding_of(AccountIsTheClusters("9" * 12, ACCOUNT), "account-not-the-clusters")
    assert f"of account {'9' * 12}, and the cluster is in {ACCOUNT}" in finding.message


@pytest.mark.parametrize(
    ("denied", "said"),
    [
        ([], []),
        (["ssm:SendCommand"], ["may not send arn:aws:ssm:us-east-1:123456789012:document/Request"]),
        (
            ["ssm:GetCommandInvocation"],
            [
                "may not read what the head node answers to a request. Ask for "
                "ssm:GetCommandInvocation (resource *)"
            ],
        ),
    ],
)
def test_the_caller_must_be_allowed_to_send_the_document_and_to_read_its_answer(
    stub: Stub, denied: list[str], said: list[str]
) -> None:
    ours = f"arn:aws:ssm:{REGION}:{ACCOUNT}:"
    calls: list[Any] = [
        (
            "simulate_principal_policy",
            {
                "EvaluationResults": [
                    {
                        "EvalActionName": name,
                        "EvalDecision": "implicitDeny" if name in denied else "allowed",
                    }
                    for name in actions
                ]
            },
            {
                "PolicySourceArn": IDENTITY.arn,
                "ActionNames": actions,
                "ResourceArns": [resource],
                "ContextEntries": [],
            },
        )
        for actions, resource in (
            (["ssm:SendCommand"], f"{ours}document/Request"),
            (["ssm:ListCommandInvocations", "ssm:GetCommandInvocation"], f"{ours}*"),
        )
    ]
    found = findings_of(CallerMayAsk(Iam(stub("iam", *calls)), IDENTITY, REGION, "Request"))
    assert [each.code for each in found] == ["job-not-permitted"] * len(said)
    for finding, text in zip(found, said, strict=True):
        assert text in finding.message
