"""Jobs and file systems, as the security group rules of each other see them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from ipaddress import IPv4Network

from training.aws.ec2 import Ec2
from training.aws.security_group import Peer


@dataclass(frozen=True)
class Members:
    """The members of a security group, in some subnets."""

    group_id: str
    subnet_ids: Sequence[str]

    def resolve(self, ec2: Ec2) -> Peer:
        """Return them with the addresses of their subnets: rules may name either."""
        subnets = ec2.subnets(self.subnet_ids).values()
        return Peer(self.group_id, tuple(IPv4Network(found["CidrBlock"]) for found in subnets))
