"""How the VPC's addresses are shared out: one public and three private subnets."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from ipaddress import IPv4Network
from itertools import combinations

# https://docs.aws.amazon.com/vpc/latest/userguide/vpc-cidr-blocks.html
LARGEST_VPC, SMALLEST_SUBNET = 16, 28
SMALLEST_VPC = SMALLEST_SUBNET - 2
"""Prefix lengths; a smaller VPC does not hold four subnets."""

FORBIDDEN = tuple(
    IPv4Network(block) for block in ("0.0.0.0/8", "127.0.0.0/8", "169.254.0.0/16", "224.0.0.0/3")
)
"""Blocks of which no VPC may be made: this host, loopback, link-local, multicast and above."""


@dataclass(frozen=True)
class SubnetPlan:
    """The addresses of each subnet; `private` is in the order of the zones."""

    public: IPv4Network
    private: tuple[IPv4Network, ...]


def cut_in_four(vpc: IPv4Network) -> SubnetPlan:
    """Give each subnet a quarter: the first is public.

    172.30.0.0/25 makes the /27 subnets of the CloudFormation templates that this app replaces.
    """
    public, *private = vpc.subnets(prefixlen_diff=2)
    return SubnetPlan(public=public, private=tuple(private))


def problems_of_vpc(vpc: IPv4Network) -> Iterator[str]:
    """Yield what AWS would refuse in a VPC's CIDR, and a VPC too small for four subnets."""
    if vpc.prefixlen < LARGEST_VPC:
        yield f"a VPC is /{LARGEST_VPC} or smaller"
    if vpc.prefixlen > SMALLEST_VPC:
        yield f"it does not hold four subnets of /{SMALLEST_SUBNET} or larger"
    for block in FORBIDDEN:
        if vpc.overlaps(block):
            yield f"no VPC may be in {block}"


def problems_of_plan(vpc: IPv4Network, plan: SubnetPlan) -> Iterator[str]:
    """Yield what AWS would refuse in a plan, naming the settings and both CIDRs."""
    subnets = [("public_subnet_cidr", plan.public)]
    subnets += [("private_subnet_cidrs", cidr) for cidr in plan.private]
    for key, cidr in subnets:
        if cidr.prefixlen > SMALLEST_SUBNET:
            yield f"{key} {cidr} is too small: a subnet is /{SMALLEST_SUBNET} or larger"
        if not cidr.subnet_of(vpc):
            yield f"{key} {cidr} is outside vpc_cidr {vpc}"
    for (key, cidr), (other_key, other) in combinations(subnets, 2):
        if cidr.overlaps(other):
            yield f"{key} {cidr} overlaps {other_key} {other}"
