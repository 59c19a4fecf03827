"""Whether the workers of a job can come: their group, their type, what is reserved for them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from training.aws.ec2 import Ec2
from training.preflight.check import Check
from training.preflight.finding import Finding, Severity
from training.preflight.job.alternatives import Alternatives
from training.preflight.job.ec2.worker_group import ACTIONS, WorkerGroup
from training.preflight.job.group import InstancesReachEachOther

KEY = "instances.count"


@dataclass(frozen=True)
class GroupTakesTheWorkers(Check):
    """The worker group is there, may grow to the job's workers, and starts instances."""

    codes: ClassVar[Mapping[str, Severity]] = {
        "worker-group-missing": "error",
        "worker-group-too-small": "error",
        "worker-group-suspended": "error",
    }
    actions: ClassVar[tuple[str, ...]] = ("autoscaling:DescribeAutoScalingGroups",)

    group: WorkerGroup
    workers: int
    told_most: int
    """What the stack's output says: of a job that takes more, that is told without asking AWS."""

    def find(self) -> Iterator[Finding]:
        found = self.group.description
        if found is None:
            yield self.found(
                "worker-group-missing",
                self.group.name,
                f"there is no auto-scaling group {self.group.name} in this account and region. "
                "Deploy it: cdk deploy ClusterStack",
            )
            return
        most = found["MaxSize"]
        if most < self.workers <= self.told_most:
            yield self.found(
                "worker-group-too-small",
                KEY,
                f"the worker group {self.group.name} has at most {most} instances, and the job "
                f"takes {self.workers}. Take fewer, or raise it: cdk deploy ClusterStack -c "
                f"cluster_max_workers={self.workers}",
            )
        paused = {each["ProcessName"] for each in found.get("SuspendedProcesses", ())}
        if "Launch" in paused and self.workers > self.group.instances:
            yield self.found(
                "worker-group-suspended",
                self.group.name,
                f"the worker group starts no instances: its process Launch is suspended. Let it go "
                f"on: aws autoscaling resume-processes --auto-scaling-group-name "
                f"{self.group.name} --scaling-processes Launch",
            )


@dataclass(frozen=True)
class TypeIsInTheZone(Check):
    """EC2 has the workers' type in the zone of their group.

    What a zone does not offer does not come, however long the job waits.
    """

    codes: ClassVar[Mapping[str, Severity]] = {"instance-type-not-in-zone": "error"}
    actions: ClassVar[tuple[str, ...]] = (
        "autoscaling:DescribeAutoScalingGroups",
        "ec2:DescribeInstanceTypeOfferings",
        "s3:GetObject",
    )

    ec2: Ec2
    group: WorkerGroup
    instance_type: str
    zone: str
    alternatives: Alternatives | None = None

    def find(self) -> Iterator[Finding]:
        zones = self.group.zones or (self.zone,)
        offering = self.ec2.zones_offering(self.instance_type)
        if offering and set(zones) & offering:
            return
        others = ", ".join(sorted(offering)) or "no zone of this region"
        found = self.alternatives
        told = found.said(without=self.instance_type, zones=zones) if found else ""
        yield self.found(
            "instance-type-not-in-zone",
            "instances.type",
            f"{self.instance_type}, the workers' type, is not in {', '.join(zones)}, where their "
            f"group is (it is in {others}). Deploy ClusterStack with another "
            f"cluster_worker_instance_type or cluster_zone{told}",
        )


@dataclass(frozen=True)
class NodesReachEachOther(Check):
    """The nodes' security group is there, and lets them talk to each other, by EFA too."""

    codes: ClassVar[Mapping[str, Severity]] = InstancesReachEachOther.codes
    actions: ClassVar[tuple[str, ...]] = (*ACTIONS, *InstancesReachEachOther.actions)

    ec2: Ec2
    group: WorkerGroup
    security_group_id: str
    hosts: int

    def find(self) -> Iterator[Finding]:
        yield from InstancesReachEachOther(
            self.ec2, self.security_group_id, self.hosts, has_efa=self.group.has_efa
        ).find()


@dataclass(frozen=True)
class ReservationHasRoom(Check):
    """The capacity that is reserved for the workers is there, begun, and free."""

    codes: ClassVar[Mapping[str, Severity]] = {
        "reservation-missing": "error",
        "reservation-not-active": "error",
        "reservation-full": "error",
    }
    actions: ClassVar[tuple[str, ...]] = (*ACTIONS, "ec2:DescribeCapacityReservations")

    ec2: Ec2
    group: WorkerGroup
    workers: int

    def find(self) -> Iterator[Finding]:
        name = self.group.reservation_id
        if name is None:
            return
        found = self.ec2.capacity_reservation(name)
        if found is None:
            yield self.found(
                "reservation-missing",
                name,
                f"there is no capacity reservation {name} in this account and region: the workers "
                f"cannot start. Deploy ClusterStack with another cluster_capacity_reservation_id, "
                "or without",
            )
        elif found["State"] != "active":
            yield self.found("reservation-not-active", name, _not_active(name, found))
        else:
            yield from self._judge_room(name, int(found["AvailableInstanceCount"]))

    def _judge_room(self, name: str, free: int) -> Iterator[Finding]:
        needed = self.workers - self.group.instances
        if needed > free:
            yield self.found(
                "reservation-full",
                KEY,
                f"capacity reservation {name} has {free} free instance(s), and {needed} more are "
                "needed. Take fewer workers, or enlarge it",
            )


def _not_active(name: str, found: Mapping[str, Any]) -> str:
    begins, ends = found.get("StartDate"), found.get("EndDate")
    when = f", from {begins:%Y-%m-%d %H:%M} UTC" if begins else ""
    when += f" to {ends:%Y-%m-%d %H:%M} UTC" if ends else ""
    return (
        f"capacity reservation {name} is {found['State']}{when}, not active: the workers cannot "
        "start now"
    )
