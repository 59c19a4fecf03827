"""The subnets of the control plane of EKS."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from training.aws.ec2 import Ec2
from training.preflight.check import Check
from training.preflight.finding import Finding, Severity
from training.preflight.stacks.own import OwnResources
from training.preflight.stacks.planned_zones import PlannedZones

WITHOUT_CONTROL_PLANE = ("cac1-az3", "use1-az3", "usw1-az2")
"""Ids of zones in which EKS takes no subnet of a control plane; nodes may be there.

https://docs.aws.amazon.com/eks/latest/userguide/network-reqs.html
"""

FEWEST_ADDRESSES = 6
"""In each subnet; EKS advises 16 (same page)."""


@dataclass(frozen=True)
class ControlPlaneHasZones(Check):
    """EKS has control planes in the zones of the private subnets."""

    codes: ClassVar[Mapping[str, Severity]] = {"kubernetes-zone-unsupported": "error"}
    actions: ClassVar[tuple[str, ...]] = ("ec2:DescribeAvailabilityZones", "ec2:DescribeSubnets")

    ec2: Ec2
    planned: PlannedZones
    zones_key: str
    """The setting that names the zones."""

    def find(self) -> Iterator[Finding]:
        ids = {zone["ZoneName"]: zone.get("ZoneId") for zone in self.ec2.zones()}
        refused = [
            name
            for name in self.planned.resolve(self.ec2)
            if ids.get(name) in WITHOUT_CONTROL_PLANE
        ]
        if refused:
            fit = [name for name, zone_id in ids.items() if zone_id not in WITHOUT_CONTROL_PLANE]
            yield self.found(
                "kubernetes-zone-unsupported",
                self.zones_key,
                f"a private subnet is to be in {', '.join(refused)} "
                f"({', '.join(str(ids[name]) for name in refused)}), where EKS has no control "
                f"plane: KubernetesStack cannot be made. For that stack, set {self.zones_key} to "
                f"some of {', '.join(fit)}",
            )


@dataclass(frozen=True)
class ControlPlaneHasRoom(Check):
    """Each private subnet of an existing VPC has addresses for the control plane."""

    codes: ClassVar[Mapping[str, Severity]] = {"kubernetes-subnet-full": "error"}
    actions: ClassVar[tuple[str, ...]] = (
        "cloudformation:ListStackResources",
        "ec2:DescribeSubnets",
    )

    ec2: Ec2
    subnet_ids: Sequence[str]
    own: OwnResources
    """Of KubernetesStack: a control plane that is there has its addresses."""

    def find(self) -> Iterator[Finding]:
        if self.own.ids():
            return
        for subnet_id, found in self.ec2.subnets(self.subnet_ids).items():
            free = found["AvailableIpAddressCount"]
            if free < FEWEST_ADDRESSES:
                yield self.found(
                    "kubernetes-subnet-full",
                    "private_subnets",
                    f"private_subnets: {subnet_id} has {free} free addresses, and EKS wants "
                    f"{FEWEST_ADDRESSES} in each for the control plane of KubernetesStack. Free "
                    "some, or name a larger subnet",
                )
