"""The instance types of the cluster."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import ClassVar

from training.aws.ec2 import Ec2
from training.preflight.check import Check
from training.preflight.finding import Finding, Severity
from training.preflight.stacks.node import PlannedNode
from training.preflight.stacks.planned_zones import PlannedZones


@dataclass(frozen=True)
class NodeTypeIsOffered(Check):
    """EC2 has the type of a kind of nodes in the zone where they are to be."""

    codes: ClassVar[Mapping[str, Severity]] = {
        "cluster-type-not-in-zone": "error",
        "cluster-worker-type-not-in-zone": "warning",
    }
    actions: ClassVar[tuple[str, ...]] = (
        "ec2:DescribeAvailabilityZones",
        "ec2:DescribeInstanceTypeOfferings",
        "ec2:DescribeSubnets",
    )

    ec2: Ec2
    region: str
    node: PlannedNode
    planned: PlannedZones
    zone: int
    """The number of their subnet's zone, from 1."""
    where: str
    """What else would bring them to another zone, such as `cluster_zone`."""

    def find(self) -> Iterator[Finding]:
        node = self.node
        zones = self.planned.resolve(self.ec2)
        if self.zone > len(zones):
            return
        zone = zones[self.zone - 1]
        offering = self.ec2.zones_offering(node.instance_type)
        if zone in offering:
            return
        # With no worker to start, the deploy itself goes well.
        code = "cluster-type-not-in-zone" if node.first else "cluster-worker-type-not-in-zone"
        if not offering:
            yield self.found(
                code,
                node.key,
                f"{node.key} is {node.instance_type}, which EC2 does not have in {self.region}. "
                "Choose another type, or another region",
            )
            return
        ours = [str(number) for number, name in enumerate(zones, 1) if name in offering]
        elsewhere = f"set {self.where} to {' or '.join(ours)}, " if ours else ""
        yield self.found(
            code,
            node.key,
            f"{node.key} is {node.instance_type}, which EC2 does not have in {zone}, where the "
            f"{node.kind} is to be, only in {', '.join(sorted(offering))}: {elsewhere}choose "
            "another type, or other zones",
        )
