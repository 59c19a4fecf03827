"""What AWS says of the nodes."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from tests.training.platforms.ec2.health.pieces import cluster
from tests.training.preflight.stacks.conftest import REGION, Stub
from training.aws.clients import Clients
from training.platforms.ec2.health.aws_side import AwsNode, AwsSide, look
from training.platforms.ec2.health.check import NodeCheck

CLUSTER = cluster()
HEADS, WORKERS = CLUSTER.head_group_name, CLUSTER.worker_group_name
LAUNCHED = datetime(2026, 1, 1, tzinfo=UTC)


def member(name: str, *, state: str = "InService", health: str = "Healthy") -> dict[str, Any]:
    return {
        "InstanceId": name,
        "AvailabilityZone": "us-west-2b",
        "LifecycleState": state,
        "HealthStatus": health,
        "ProtectedFromScaleIn": False,
    }


def group(name: str, *members: dict[str, Any], desired: int | None = None) -> dict[str, Any]:
    return {
        "AutoScalingGroupName": name,
        "MinSize": 0,
        "MaxSize": 8,
        "DesiredCapacity": len(members) if desired is None else desired,
        "DefaultCooldown": 300,
        "AvailabilityZones": ["us-west-2b"],
        "HealthCheckType": "EC2",
        "CreatedTime": LAUNCHED,
        "Instances": list(members),
    }


def instance(name: str, *, state: str = "running", efa: int = 0) -> dict[str, Any]:
    return {
        "InstanceId": name,
        "InstanceType": "p4d.24xlarge",
        "PrivateIpAddress": "10.0.0.7",
        "LaunchTime": LAUNCHED,
        "State": {"Name": state},
        "NetworkInterfaces": [{"InterfaceType": kind} for kind in ["interface", *["efa"] * efa]],
    }


def status(name: str, *, system: str = "ok", **more: Any) -> dict[str, Any]:
    return {
        "InstanceId": name,
        "SystemStatus": {"Status": system},
        "InstanceStatus": {"Status": "ok"},
        **more,
    }


def managed(name: str, ping: str = "Online") -> dict[str, Any]:
    return {"InstanceId": name, "PingStatus": ping, "AgentVersion": "3.3.1"}


class Answers:
    """An AWS in which a test lets one thing be otherwise."""

    def __init__(self, stub: Stub, clients: Clients, monkeypatch: pytest.MonkeyPatch) -> None:
        self._stub = stub
        self._clients = clients
        self._monkeypatch = monkeypatch
        self.groups = [group(HEADS, member("i-head")), group(WORKERS, member("i-one"))]
        self.instances = [instance("i-head"), instance("i-one", efa=4)]
        self.statuses = [status("i-head"), status("i-one")]
        self.managed = [managed("i-head"), managed("i-one")]
        self.activities: dict[str, list[dict[str, Any]]] = {}

    def look(self) -> AwsSide:
        ids = [each["InstanceId"] for one in self.groups for each in one["Instances"]]
        there = [each["InstanceId"] for each in self.instances]
        asked: dict[str, list[Any]] = {
            "autoscaling": [
                (
                    "describe_auto_scaling_groups",
                    {"AutoScalingGroups": self.groups},
                    {"AutoScalingGroupNames": [HEADS, WORKERS]},
                ),
                *(
                    (
                        "describe_scaling_activities",
                        {"Activities": found},
                        {"AutoScalingGroupName": name, "MaxRecords": 20},
                    )
                    for name, found in self.activities.items()
                ),
            ],
            "ec2": [
                (
                    "describe_instances",
                    {"Reservations": [{"Instances": self.instances}]},
                    {"Filters": [{"Name": "instance-id", "Values": ids}]},
                ),
                (
                    "describe_instance_status",
                    {"InstanceStatuses": self.statuses},
                    {"InstanceIds": there},
                ),
            ],
            "ssm": [
                (
                    "describe_instance_information",
                    {"InstanceInformationList": self.managed},
                    {"Filters": [{"Key": "InstanceIds", "Values": ids}]},
                )
            ],
        }
        stubbed = {service: self._stub(service, *calls) for service, calls in asked.items()}
        self._monkeypatch.setattr(self._clients, "boto", stubbed.__getitem__)
        return look(self._clients, CLUSTER)

    def checks(self, name: str = "i-one") -> dict[str, NodeCheck]:
        [node] = [each for each in self.look().nodes if each.instance_id == name]
        return {check.name: check for check in node.checks}


@pytest.fixture
def answers(stub: Stub, clients: Clients, monkeypatch: pytest.MonkeyPatch) -> Answers:
    return Answers(stub, clients, monkeypatch)


def test_nodes_that_are_well_are_told_whole(answers: Answers) -> None:
    side = answers.look()
    assert side.missing == ()
    assert [each.role for each in side.nodes] == ["head", "worker"]
    assert side.nodes[1] == AwsNode(
        instance_id="i-one",
        role="worker",
        is_let_go=False,
        address="10.0.0.7",
        instance_type="p4d.24xlarge",
        zone="us-west-2b",
        launched=LAUNCHED,
        efa_interfaces=4,
        checks=(
            NodeCheck("group", "ok", "InService, Healthy"),
            NodeCheck("instance", "ok", "running"),
            NodeCheck("system-status", "ok", "ok"),
            NodeCheck("instance-status", "ok", "ok"),
            NodeCheck("ssm", "ok", "Online, agent 3.3.1"),
        ),
    )


def test_a_machine_that_aws_holds_for_broken_has_failed(answers: Answers) -> None:
    answers.statuses[1] = status("i-one", system="impaired")
    check = answers.checks()["system-status"]
    assert (check.status, check.message) == ("failed", "AWS's own check of the machine fails")


@pytest.mark.parametrize(
    ("code", "description", "found"),
    [
        ("instance-retirement", "The instance is running on degraded hardware", "failed"),
        ("system-reboot", "Maintenance", "warning"),
        ("system-reboot", "[Completed] Maintenance", None),
    ],
)
def test_what_aws_plans_is_told_with_its_time(
    answers: Answers, code: str, description: str, found: str | None
) -> None:
    when = datetime(2026, 2, 3, 4, 5, tzinfo=UTC)
    event = {"Code": code, "Description": description, "NotBefore": when}
    answers.statuses[1] = status("i-one", Events=[event])
    check = answers.checks().get("event")
    assert (check and check.status) == found
    if check:
        assert check.message == f"AWS plans {code} from 2026-02-03 04:05 UTC: {description}"


def test_systems_manager_must_reach_the_head_and_should_reach_workers(answers: Answers) -> None:
    answers.managed = [managed("i-head", "ConnectionLost")]
    side = answers.look()
    head, worker = ({check.name: check for check in node.checks} for node in side.nodes)
    assert head["ssm-lost"] == NodeCheck(
        "ssm-lost",
        "failed",
        "ConnectionLost, agent 3.3.1",
        "Systems Manager has lost the node (ConnectionLost)",
    )
    assert worker["ssm"].status == "warning"
    assert "Systems Manager does not know the node" in worker["ssm"].message


def test_an_instance_that_stands_still_has_failed(answers: Answers) -> None:
    answers.instances[1] = instance("i-one", state="stopped")
    assert answers.checks()["instance"].message == "EC2 has it as stopped: it does not run"


@pytest.mark.parametrize(
    ("one", "is_let_go", "said"),
    [
        (member("i-one", health="Unhealthy"), True, "holds it for unhealthy, and replaces it"),
        (member("i-one", state="Terminating:Wait"), True, "its group ends it"),
        (member("i-one", state="Pending"), False, "not count it as in service yet (Pending)"),
    ],
)
def test_what_the_group_does_is_told(
    answers: Answers, one: dict[str, Any], *, is_let_go: bool, said: str
) -> None:
    answers.groups[1] = group(WORKERS, one, desired=0)
    [_, worker] = answers.look().nodes
    assert worker.is_let_go is is_let_go
    assert said in worker.checks[0].message
    assert worker.checks[0].status == "warning"


def test_instances_that_do_not_come_are_missing_with_awss_reason(answers: Answers) -> None:
    answers.groups[1]["DesiredCapacity"] = 4
    answers.activities[WORKERS] = [
        {
            "ActivityId": "1",
            "AutoScalingGroupName": WORKERS,
            "Cause": "…",
            "StartTime": LAUNCHED,
            "StatusCode": "Failed",
            "StatusMessage": f"We currently do not have sufficient capacity in {REGION}",
        }
    ]
    [missing] = answers.look().missing
    assert missing.message == (
        "worker group: 1 of 4 instance(s) are in service. AWS says: We currently do not have "
        f"sufficient capacity in {REGION}"
    )


def test_a_group_that_is_gone_is_missing(answers: Answers) -> None:
    answers.groups = answers.groups[:1]
    answers.instances, answers.statuses = answers.instances[:1], answers.statuses[:1]
    [missing] = answers.look().missing
    assert missing.reason == f"there is no auto-scaling group {WORKERS} any more"
