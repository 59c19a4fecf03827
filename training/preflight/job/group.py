"""The security group of the job."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import ClassVar

from training.aws.ec2 import Ec2
from training.aws.security_group import (
    ALL_PORTS,
    Peer,
    admits,
    admits_everything,
    releases,
    releases_everything,
)
from training.preflight.check import Check
from training.preflight.finding import Finding, Severity


@dataclass(frozen=True)
class InstancesReachEachOther(Check):
    """The job's security group is there, and lets its members talk to each other.

    https://docs.aws.amazon.com/sagemaker/latest/dg/train-vpc.html
    """

    codes: ClassVar[Mapping[str, Severity]] = {
        "job-group-missing": "error",
        "job-group-closed": "error",
        "job-group-without-efa": "error",
    }
    actions: ClassVar[tuple[str, ...]] = ("ec2:DescribeSecurityGroups",)

    ec2: Ec2
    group_id: str
    instances: int
    has_efa: bool
    """Whether the instances have Elastic Fabric Adapters."""

    def find(self) -> Iterator[Finding]:
        group = self.ec2.security_groups([self.group_id]).get(self.group_id)
        if group is None:
            yield self.found(
                "job-group-missing",
                self.group_id,
                f"there is no security group {self.group_id} in this account and region; deploy "
                "NetworkStack again, or read its outputs anew (leave --outputs-file out)",
            )
            return
        if self.instances == 1:
            return
        itself = Peer(self.group_id)
        if not (admits(group, ALL_PORTS, itself) and releases(group, ALL_PORTS, itself)):
            yield self.found(
                "job-group-closed",
                self.group_id,
                f"{self.group_id} does not let its own members in and out on every TCP port, and "
                f"the {self.instances} instances of the job talk to each other on any. "
                f"{self._remedy()}",
            )
        elif self.has_efa and not (
            admits_everything(group, self.group_id) and releases_everything(group, self.group_id)
        ):
            # https://github.com/awslabs/awsome-distributed-ai/issues/546
            yield self.found(
                "job-group-without-efa",
                self.group_id,
                f"{self.group_id} does not name itself in both directions for all traffic, and "
                f"Elastic Fabric Adapters pass nothing then. {self._remedy()}",
            )

    def _remedy(self) -> str:
        commands = " and ".join(
            f"aws ec2 authorize-security-group-{direction} --group-id {self.group_id} "
            f"--ip-permissions 'IpProtocol=-1,UserIdGroupPairs=[{{GroupId={self.group_id}}}]'"
            for direction in ("ingress", "egress")
        )
        return f"Allow it: {commands}"
