"""The VPC that exists already."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import ClassVar

from training.aws.ec2 import Ec2
from training.preflight.check import Check
from training.preflight.finding import Finding, Severity


@dataclass(frozen=True)
class VpcIsFit(Check):
    """The VPC is there, with names for its file systems and endpoints."""

    codes: ClassVar[Mapping[str, Severity]] = {
        "vpc-missing": "error",
        "vpc-of-dedicated-tenancy": "error",
        "vpc-without-dns": "error",
    }
    actions: ClassVar[tuple[str, ...]] = ("ec2:DescribeVpcAttribute", "ec2:DescribeVpcs")

    ec2: Ec2
    region: str
    vpc_id: str

    def find(self) -> Iterator[Finding]:
        vpc = self.ec2.vpc(self.vpc_id)
        if vpc is None:
            yield self.found(
                "vpc-missing",
                "vpc_id",
                f"vpc_id is {self.vpc_id}, and this account has no such VPC in {self.region}. "
                "Correct the id or the region (aws ec2 describe-vpcs shows them)",
            )
            return
        if vpc["InstanceTenancy"] != "default":
            # https://docs.aws.amazon.com/sagemaker/latest/dg/train-vpc.html
            yield self.found(
                "vpc-of-dedicated-tenancy",
                "vpc_id",
                f"{self.vpc_id} puts instances on hardware of your own (tenancy "
                f"{vpc['InstanceTenancy']}), where SageMaker runs no job. Name a VPC of default "
                "tenancy",
            )
        yield from self._judge_dns()

    def _judge_dns(self) -> Iterator[Finding]:
        support, names = self.ec2.has_dns(self.vpc_id)
        off = [
            (attribute, option)
            for attribute, option, is_on in (
                ("enableDnsSupport", "--enable-dns-support", support),
                ("enableDnsHostnames", "--enable-dns-hostnames", names),
            )
            if not is_on
        ]
        if off:
            commands = " and ".join(
                f"aws ec2 modify-vpc-attribute --vpc-id {self.vpc_id} {option}" for _, option in off
            )
            yield self.found(
                "vpc-without-dns",
                "vpc_id",
                f"{self.vpc_id} has {' and '.join(name for name, _ in off)} off, and clients find "
                f"file systems and endpoints by name. Switch it on: {commands}",
            )
