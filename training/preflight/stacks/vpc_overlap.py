"""The addresses of the new VPC."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from ipaddress import IPv4Network
from typing import ClassVar

from training.aws.ec2 import Ec2
from training.preflight.check import Check
from training.preflight.finding import Finding, Severity
from training.preflight.stacks.own import OwnResources


@dataclass(frozen=True)
class VpcAddressesAreFree(Check):
    """No other VPC of the account uses them."""

    codes: ClassVar[Mapping[str, Severity]] = {"vpc-overlaps": "warning"}
    actions: ClassVar[tuple[str, ...]] = ("cloudformation:ListStackResources", "ec2:DescribeVpcs")

    ec2: Ec2
    cidr: IPv4Network
    own: OwnResources

    def find(self) -> Iterator[Finding]:
        clashes = [
            f"{vpc['VpcId']} ({block['CidrBlock']})"
            for vpc in self.own.others(self.ec2.vpcs(), "VpcId")
            for block in vpc.get("CidrBlockAssociationSet", [])
            if self.cidr.overlaps(IPv4Network(block["CidrBlock"]))
        ]
        if clashes:
            yield self.found(
                "vpc-overlaps",
                "vpc_cidr",
                f"vpc_cidr {self.cidr} overlaps {', '.join(clashes)}: the two can never be joined "
                "by peering or a transit gateway. If they may have to be, choose other addresses",
            )
