"""What only AWS knows of the nodes: groups, instances, status checks, events, Systems Manager."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal

from training.aws.clients import Clients
from training.outputs import ClusterOutputs
from training.platforms.ec2.health.check import NodeCheck, failed, ok, warning

Role = Literal["head", "worker"]

LEAVING = ("Terminating", "Terminated", "Detaching", "Detached")
"""How the lifecycle states of instances begin that their group lets go."""


@dataclass(frozen=True, kw_only=True)
class AwsNode:
    """An instance of one of the groups."""

    instance_id: str
    role: Role
    is_let_go: bool
    """Whether its group replaces it by itself."""
    address: str | None
    instance_type: str | None
    zone: str | None
    launched: datetime | None
    efa_interfaces: int
    """That it was started with."""
    checks: tuple[NodeCheck, ...]


@dataclass(frozen=True)
class Missing:
    """Instances that a group wants and has not."""

    role: Role
    wanted: int
    there: int
    reason: str | None
    """What its last attempt came to."""

    def to_json(self) -> dict[str, Any]:
        return {
            "role": self.role,
            "wanted": self.wanted,
            "there": self.there,
            "reason": self.reason,
        }

    @property
    def message(self) -> str:
        what = f"{self.role} group: {self.there} of {self.wanted} instance(s) are in service"
        return f"{what}. AWS says: {self.reason}" if self.reason else what


@dataclass(frozen=True)
class AwsSide:
    """All of it."""

    nodes: tuple[AwsNode, ...]
    missing: tuple[Missing, ...]


def look(clients: Clients, cluster: ClusterOutputs) -> AwsSide:
    """Ask AWS.

    Raises:
        AwsError: It refuses, or cannot be reached.
    """
    roles: dict[str, Role] = {
        cluster.head_group_name: "head",
        cluster.worker_group_name: "worker",
    }
    groups = clients.autoscaling.groups(roles)
    members = [
        (roles[name], instance)
        for name in roles
        for instance in groups.get(name, {}).get("Instances", [])
    ]
    ids = [instance["InstanceId"] for _, instance in members]
    instances = clients.ec2.instances(ids)
    statuses = clients.ec2.instance_statuses(instances)
    managed = _managed(clients, ids)
    nodes = tuple(_node(role, member, instances, statuses, managed) for role, member in members)
    return AwsSide(nodes, tuple(_missing(clients, cluster, groups)))


SSM_FILTER_VALUES = 50
"""Instance ids in one request: fewer than AWS takes."""


def _managed(clients: Clients, ids: list[str]) -> dict[str, dict[str, Any]]:
    found: dict[str, dict[str, Any]] = {}
    for first in range(0, len(ids), SSM_FILTER_VALUES):
        found |= clients.ssm.nodes(ids[first : first + SSM_FILTER_VALUES])
    return found


def _node(
    role: Role,
    member: Mapping[str, Any],
    instances: Mapping[str, Mapping[str, Any]],
    statuses: Mapping[str, Mapping[str, Any]],
    managed: Mapping[str, Mapping[str, Any]],
) -> AwsNode:
    name = member["InstanceId"]
    instance = instances.get(name, {})
    status = statuses.get(name, {})
    return AwsNode(
        instance_id=name,
        role=role,
        is_let_go=_is_let_go(member),
        address=instance.get("PrivateIpAddress"),
        instance_type=instance.get("InstanceType") or member.get("InstanceType"),
        zone=member.get("AvailabilityZone"),
        launched=instance.get("LaunchTime"),
        efa_interfaces=sum(
            each.get("InterfaceType", "").startswith("efa")
            for each in instance.get("NetworkInterfaces", [])
        ),
        checks=(
            _of_group(member),
            _of_instance(instance),
            *_of_status(status),
            *_of_events(status.get("Events", [])),
            _of_ssm(role, managed.get(name)),
        ),
    )


def _is_let_go(member: Mapping[str, Any]) -> bool:
    state, health = str(member["LifecycleState"]), member["HealthStatus"]
    return state.startswith(LEAVING) or health != "Healthy"


def _of_group(member: Mapping[str, Any]) -> NodeCheck:
    state, health = member["LifecycleState"], member["HealthStatus"]
    value = f"{state}, {health}"
    if state.startswith(LEAVING):
        return warning("group", "its group ends it, and starts another if it wants one", value)
    if health != "Healthy":
        return warning("group", "its group holds it for unhealthy, and replaces it", value)
    if state != "InService":
        return warning("group", f"its group does not count it as in service yet ({state})", value)
    return ok("group", value)


def _of_instance(instance: Mapping[str, Any]) -> NodeCheck:
    state = instance.get("State", {}).get("Name")
    if state in ("running", "pending"):
        return ok("instance", state)
    return failed("instance", f"EC2 has it as {state or 'unknown'}: it does not run", state)


def _of_status(status: Mapping[str, Any]) -> Iterator[NodeCheck]:
    """Yield AWS's own checks: of its machine (system), and of what runs on it (instance).

    https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/monitoring-system-instance-status-check.html
    """
    for name, field, of in (
        ("system-status", "SystemStatus", "machine"),
        ("instance-status", "InstanceStatus", "system on it"),
    ):
        found = status.get(field, {}).get("Status")
        if found == "impaired":
            yield failed(name, f"AWS's own check of the {of} fails", found)
        elif found:
            yield ok(name, found)


_ENDING = ("instance-retirement", "instance-stop")
"""Events after which the instance is not there any more.

https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/monitoring-instances-status-check_sched.html
"""


def _of_events(events: Iterable[Mapping[str, Any]]) -> Iterator[NodeCheck]:
    for event in events:
        # AWS leaves an event that is over in the list for a week.
        if event.get("Description", "").startswith(("[Completed]", "[Canceled]")):
            continue
        code, when = event["Code"], event.get("NotBefore")
        said = f"AWS plans {code}" + (f" from {when:%Y-%m-%d %H:%M} UTC" if when else "")
        make = failed if code in _ENDING else warning
        yield make("event", f"{said}: {event.get('Description', '')}".rstrip(": "), code)


def _of_ssm(role: Role, managed: Mapping[str, Any] | None) -> NodeCheck:
    """Judge whether Systems Manager reaches the node; only the head gets its requests by it."""
    make = failed if role == "head" else warning
    if managed is None:
        return make(
            "ssm",
            "Systems Manager does not know the node: its agent has not come up, or cannot reach "
            "AWS (NAT gateway or interface endpoints ssm, ssmmessages, ec2messages)",
        )
    ping, agent = managed["PingStatus"], f"agent {managed.get('AgentVersion', '?')}"
    if ping != "Online":
        return make("ssm-lost", f"Systems Manager has lost the node ({ping})", f"{ping}, {agent}")
    return ok("ssm", f"Online, {agent}")


def _missing(
    clients: Clients, cluster: ClusterOutputs, groups: Mapping[str, Mapping[str, Any]]
) -> Iterator[Missing]:
    wanted: tuple[tuple[Role, str], ...] = (
        ("head", cluster.head_group_name),
        ("worker", cluster.worker_group_name),
    )
    for role, name in wanted:
        group = groups.get(name)
        if group is None:
            yield Missing(role, 1, 0, f"there is no auto-scaling group {name} any more")
            continue
        there = sum(
            each["LifecycleState"] == "InService" and each["HealthStatus"] == "Healthy"
            for each in group["Instances"]
        )
        if there < group["DesiredCapacity"]:
            yield Missing(role, group["DesiredCapacity"], there, _why(clients, name))


def _why(clients: Clients, group_name: str) -> str | None:
    """Return why the group's last attempt to start an instance failed; None where it did not."""
    latest = next(iter(clients.autoscaling.activities(group_name)), None)
    if latest is None or latest["StatusCode"] not in ("Failed", "Cancelled"):
        return None
    return str(latest.get("StatusMessage") or latest["StatusCode"])
