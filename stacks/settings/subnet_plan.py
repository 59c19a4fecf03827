"""How a new VPC's addresses are shared out among its subnets."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from ipaddress import IPv4Network
from itertools import combinations, islice

# https://docs.aws.amazon.com/vpc/latest/userguide/vpc-cidr-blocks.html
LARGEST_VPC, SMALLEST_VPC, SMALLEST_SUBNET = 16, 28, 28
"""Prefix lengths."""

FORBIDDEN = tuple(
    IPv4Network(block) for block in ("0.0.0.0/8", "127.0.0.0/8", "169.254.0.0/16", "224.0.0.0/3")
)
"""Blocks of which no VPC may be made: this host, loopback, link-local, multicast and above."""


@dataclass(frozen=True)
class SubnetPlan:
    """The addresses of each subnet, in the order of the zones."""

    public: tuple[IPv4Network, ...]
    private: tuple[IPv4Network, ...]


@dataclass(frozen=True)
class Cut:
    """How a VPC is cut when its subnets are not given.

    Each private subnet is a quarter of the VPC, an eighth where there are more than three. The
    public ones are in the part before them: a quarter of it each, an eighth where there are more
    than three zones, or as few pieces as there are where those would be too small. So subnets keep
    their addresses when NAT gateways and public subnets come and go, and a third zone: AWS would
    not make one where another still is.
    172.30.0.0/25 with three private subnets and one public makes the /27 subnets of the
    CloudFormation templates that this app replaces.
    """

    public: int
    private: int

    @property
    def private_bits(self) -> int:
        """By how much the prefix of a private subnet is longer than the VPC's."""
        return 2 if self.private <= 3 else 3

    @property
    def smallest_vpc(self) -> int:
        """The prefix length of the smallest VPC that can be cut so."""
        return SMALLEST_SUBNET - self.private_bits - _bits(self.public)

    def of(self, vpc: IPv4Network) -> SubnetPlan:
        """Return the subnets of a VPC that is not smaller than `smallest_vpc`."""
        first, *rest = vpc.subnets(prefixlen_diff=self.private_bits)
        public_prefix = first.prefixlen + self.private_bits
        if public_prefix > SMALLEST_SUBNET:
            public_prefix = first.prefixlen + _bits(self.public)
        return SubnetPlan(
            public=tuple(islice(first.subnets(new_prefix=public_prefix), self.public)),
            private=tuple(rest[: self.private]),
        )


def _bits(pieces: int) -> int:
    """Return by how much the prefix grows when a network is cut in so many pieces."""
    return max(0, pieces - 1).bit_length()


def problems_of_vpc(vpc: IPv4Network) -> Iterator[str]:
    """Yield what AWS would refuse in a VPC's CIDR."""
    if not LARGEST_VPC <= vpc.prefixlen <= SMALLEST_VPC:
        yield f"a VPC is /{LARGEST_VPC} to /{SMALLEST_VPC}"
    for block in FORBIDDEN:
        if vpc.overlaps(block):
            yield f"no VPC may be in {block}"


def problems_of_cut(vpc: IPv4Network, cut: Cut) -> Iterator[str]:
    """Yield whether the VPC is too small to be cut so, and what would do."""
    if vpc.prefixlen > cut.smallest_vpc:
        yield (
            f"vpc_cidr = {vpc} does not hold {cut.private} private and {cut.public} public subnets "
            f"of /{SMALLEST_SUBNET}, the smallest that AWS makes: take /{cut.smallest_vpc} or "
            "larger, or give public_subnet_cidrs and private_subnet_cidrs"
        )


def problems_of_plan(vpc: IPv4Network, plan: SubnetPlan) -> Iterator[str]:
    """Yield what AWS would refuse in given subnets, naming the settings and both CIDRs."""
    subnets = [("public_subnet_cidrs", cidr) for cidr in plan.public]
    subnets += [("private_subnet_cidrs", cidr) for cidr in plan.private]
    for key, cidr in subnets:
        if cidr.prefixlen > SMALLEST_SUBNET:
            yield f"{key} {cidr} is too small: a subnet is /{SMALLEST_SUBNET} or larger"
        if not cidr.subnet_of(vpc):
            yield f"{key} {cidr} is outside vpc_cidr {vpc}: take a part of it"
    for (key, cidr), (other_key, other) in combinations(subnets, 2):
        if cidr.overlaps(other):
            yield f"{key} {cidr} overlaps {other_key} {other}: give each its own addresses"
