"""The subnets that exist already."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from training.aws.ec2 import Description, Ec2
from training.preflight.check import Check
from training.preflight.finding import Finding, Severity
from training.preflight.stacks.subnet import NamedSubnet


@dataclass(frozen=True)
class SubnetsAreWhereSaid(Check):
    """Each subnet is there, in the VPC and in the zone that the settings say."""

    codes: ClassVar[Mapping[str, Severity]] = {
        "subnet-missing": "error",
        "subnet-in-another-vpc": "error",
        "subnet-in-another-zone": "error",
    }
    actions: ClassVar[tuple[str, ...]] = ("ec2:DescribeSubnets",)

    ec2: Ec2
    vpc_id: str
    subnets: Sequence[NamedSubnet]

    def find(self) -> Iterator[Finding]:
        there = self.ec2.subnets(subnet.subnet_id for subnet in self.subnets)
        for subnet in self.subnets:
            found = there.get(subnet.subnet_id)
            if found is None:
                yield self.found(
                    "subnet-missing",
                    subnet.key,
                    f"{subnet.key} names {subnet.subnet_id}, and this account has no such subnet "
                    f"here. Those of {self.vpc_id}: aws ec2 describe-subnets --filters "
                    f"Name=vpc-id,Values={self.vpc_id}",
                )
            else:
                yield from self._judge(subnet, found)

    def _judge(self, subnet: NamedSubnet, found: Description) -> Iterator[Finding]:
        if found["VpcId"] != self.vpc_id:
            yield self.found(
                "subnet-in-another-vpc",
                subnet.key,
                f"{subnet.key} names {subnet.subnet_id}, which is in {found['VpcId']} and not in "
                f"vpc_id {self.vpc_id}. Name a subnet of that VPC, or correct vpc_id",
            )
        zone = found["AvailabilityZone"]
        if zone != subnet.zone:
            yield self.found(
                "subnet-in-another-zone",
                subnet.key,
                f"{subnet.key} says that {subnet.subnet_id} is in {subnet.zone}, but it is in "
                f"{zone}. Write {zone} there",
            )
