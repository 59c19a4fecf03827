"""The reserved capacity of the cluster's workers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import ClassVar

from training.aws.ec2 import Description, Ec2
from training.preflight.check import Check
from training.preflight.finding import Finding, Severity
from training.preflight.stacks.node import PlannedNode
from training.preflight.stacks.planned_zones import PlannedZones

BLOCK = "capacity-block"


@dataclass(frozen=True)
class ReservationIsFit(Check):
    """The reservation is active, of the workers' type, in their zone, and large enough."""

    codes: ClassVar[Mapping[str, Severity]] = {
        "cluster-reservation-missing": "error",
        "cluster-reservation-not-active": "error",
        "cluster-reservation-of-other-type": "error",
        "cluster-reservation-in-other-zone": "error",
        "cluster-reservation-of-other-kind": "error",
        "cluster-reservation-too-small": "warning",
    }
    actions: ClassVar[tuple[str, ...]] = (
        "ec2:DescribeAvailabilityZones",
        "ec2:DescribeCapacityReservations",
        "ec2:DescribeSubnets",
    )

    ec2: Ec2
    region: str
    reservation_id: str
    is_block: bool
    """Whether the settings say that it is a Capacity Block."""
    workers: PlannedNode
    planned: PlannedZones
    zone: int
    """The number of the workers' zone, from 1."""
    prefix: str = "cluster"
    """How the settings of the workers' stack begin."""

    @property
    def _key(self) -> str:
        return f"{self.prefix}_capacity_reservation_id"

    def find(self) -> Iterator[Finding]:
        found = self.ec2.capacity_reservation(self.reservation_id)
        if found is None:
            yield self.found(
                "cluster-reservation-missing",
                self._key,
                f"{self._key} is {self.reservation_id}, which this account does not have in "
                f"{self.region}. Correct it (aws ec2 describe-capacity-reservations shows them)",
            )
            return
        yield from self._judge_kind(found)
        yield from self._judge_state(found)
        yield from self._judge_match(found)
        total = found["TotalInstanceCount"]
        if total < self.workers.most:
            yield self.found(
                "cluster-reservation-too-small",
                self.workers.most_key,
                f"{self.workers.most_key} is {self.workers.most}, and {self.reservation_id} has "
                f"{total} instances: workers start in it alone. Set "
                f"{self.workers.most_key}={total}, or enlarge the reservation",
            )

    def _judge_kind(self, found: Description) -> Iterator[Finding]:
        is_block = found.get("ReservationType", "default") == BLOCK
        if is_block == self.is_block:
            return
        what = "a Capacity Block" if is_block else "no Capacity Block"
        key = f"{self.prefix}_capacity_block"
        yield self.found(
            "cluster-reservation-of-other-kind",
            key,
            f"{key} is {str(self.is_block).lower()}, and {self.reservation_id} is {what}. Set "
            f"{key}={str(is_block).lower()}",
        )

    def _judge_state(self, found: Description) -> Iterator[Finding]:
        state = found["State"]
        if state == "active":
            return
        begins = found.get("StartDate")
        advice = (
            f"It begins {begins:%Y-%m-%d %H:%M} UTC: deploy with cluster_workers=0 until then"
            if state == "scheduled" and begins
            else "Take another one"
        )
        if state == "scheduled" and not self.workers.first:
            # No worker is started before a job asks for it.
            return
        yield self.found(
            "cluster-reservation-not-active",
            self._key,
            f"{self._key}: {self.reservation_id} is {state}, and no worker starts in it. {advice}",
        )

    def _judge_match(self, found: Description) -> Iterator[Finding]:
        if found["InstanceType"] != self.workers.instance_type:
            yield self.found(
                "cluster-reservation-of-other-type",
                self.workers.key,
                f"{self.workers.key} is {self.workers.instance_type}, and {self.reservation_id} is "
                f"of {found['InstanceType']}. Make them the same",
            )
        zones = self.planned.resolve(self.ec2)
        zone = zones[self.zone - 1] if self.zone <= len(zones) else None
        there = found["AvailabilityZone"]
        if zone is None or zone == there:
            return
        advice = (
            f"Set {self.prefix}_zone={zones.index(there) + 1}"
            if there in zones
            else f"Have a private subnet in {there}"
        )
        yield self.found(
            "cluster-reservation-in-other-zone",
            f"{self.prefix}_zone",
            f"the workers are to be in {zone}, and {self.reservation_id} is in {there}. {advice}",
        )
