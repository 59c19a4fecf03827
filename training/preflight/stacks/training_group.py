"""The security group of jobs that exists already."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import ClassVar

from training.aws.ec2 import Description, Ec2
from training.aws.security_group import (
    ALL_PORTS,
    ANYONE,
    Peer,
    admits_everything,
    releases,
    releases_everything,
)
from training.preflight.check import Check
from training.preflight.finding import Finding, Severity

KEY = "training_security_group_id"
HTTPS = (443, 443)


@dataclass(frozen=True)
class TrainingGroupIsFit(Check):
    """The group is in the VPC, its members reach each other, and AWS over HTTPS."""

    codes: ClassVar[Mapping[str, Severity]] = {
        "training-group-missing": "error",
        "training-group-in-another-vpc": "error",
        "training-group-closed-to-itself": "error",
        "training-group-without-efa": "warning",
        "training-group-without-https": "warning",
    }
    actions: ClassVar[tuple[str, ...]] = ("ec2:DescribeSecurityGroups",)

    ec2: Ec2
    vpc_id: str
    group_id: str

    def find(self) -> Iterator[Finding]:
        group = self.ec2.security_groups([self.group_id]).get(self.group_id)
        if group is None:
            yield self.found(
                "training-group-missing",
                KEY,
                f"{KEY} is {self.group_id}, and there is no such security group here. Correct the "
                "id, or leave it out and a group is made",
            )
        elif group["VpcId"] != self.vpc_id:
            yield self.found(
                "training-group-in-another-vpc",
                KEY,
                f"{KEY} is {self.group_id}, which is in {group['VpcId']} and not in vpc_id "
                f"{self.vpc_id}. Name a group of that VPC, or leave it out and one is made",
            )
        else:
            yield from self._judge_members(group)
            yield from self._judge_https(group)

    def _judge_members(self, group: Description) -> Iterator[Finding]:
        itself = Peer(self.group_id)
        if not admits_everything(group, self.group_id) or not releases(group, ALL_PORTS, itself):
            # https://docs.aws.amazon.com/sagemaker/latest/dg/train-vpc.html
            yield self.found(
                "training-group-closed-to-itself",
                KEY,
                f"{KEY}: {self.group_id} does not let its own members in and out on every port, "
                f"and the processes of a job talk to each other on any. {self._remedy()}",
            )
        elif not releases_everything(group, self.group_id):
            yield self.found(
                "training-group-without-efa",
                KEY,
                f"{KEY}: no rule of {self.group_id} for the way out names the group itself. EFA "
                "passes only where both directions do, so that instances with EFA fall back or "
                f"fail. {self._remedy('egress')}",
            )

    def _judge_https(self, group: Description) -> Iterator[Finding]:
        rules = group.get("IpPermissionsEgress", [])
        # Those of a prefix list may be for S3, or for everything: nobody can tell from here.
        if not releases(group, HTTPS, ANYONE) and not any(r.get("PrefixListIds") for r in rules):
            yield self.found(
                "training-group-without-https",
                KEY,
                f"{KEY}: {self.group_id} lets nobody out on TCP port 443 to 0.0.0.0/0, so that "
                "jobs reach neither S3 nor other services. Allow it, unless a narrower rule does",
            )

    def _remedy(self, *directions: str) -> str:
        commands = " and ".join(
            f"aws ec2 authorize-security-group-{direction} --group-id {self.group_id} "
            f"--ip-permissions 'IpProtocol=-1,UserIdGroupPairs=[{{GroupId={self.group_id}}}]'"
            for direction in directions or ("ingress", "egress")
        )
        return f"Allow it: {commands}"
