"""The route tables of subnets that exist already."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from training.aws.ec2 import Description, Ec2
from training.preflight.check import Check
from training.preflight.finding import Finding, Severity
from training.preflight.routes import (
    default_route,
    is_associated,
    is_to_internet_gateway,
    table_of,
)
from training.preflight.stacks.subnet import NamedSubnet


@dataclass(frozen=True)
class RoutesLeadWhereSaid(Check):
    """Each subnet uses the route table that the settings say, and that leads to the internet."""

    codes: ClassVar[Mapping[str, Severity]] = {
        "route-table-missing": "error",
        "route-table-differs": "error",
        "subnet-without-internet": "error",
        "subnet-is-public": "warning",
        "subnet-is-not-public": "error",
        "subnet-has-internet": "warning",
    }
    actions: ClassVar[tuple[str, ...]] = ("ec2:DescribeRouteTables", "ec2:DescribeSubnets")

    ec2: Ec2
    vpc_id: str
    private: Sequence[NamedSubnet]
    public: Sequence[NamedSubnet]
    internet_access: bool

    def find(self) -> Iterator[Finding]:
        tables = self.ec2.route_tables(self.vpc_id)
        for subnet in self._there(self.private):
            if used := table_of(subnet.subnet_id, tables):
                yield from self._judge_table(subnet, used, tables)
                yield from self._judge_private(subnet, used)
        for subnet in self._there(self.public):
            if used := table_of(subnet.subnet_id, tables):
                yield from self._judge_public(subnet, used)

    def _there(self, subnets: Sequence[NamedSubnet]) -> list[NamedSubnet]:
        """Return those that are in the VPC; the others are findings of another check."""
        found = self.ec2.subnets(subnet.subnet_id for subnet in subnets) if subnets else {}
        return [
            subnet
            for subnet in subnets
            if found.get(subnet.subnet_id, {}).get("VpcId") == self.vpc_id
        ]

    def _judge_table(
        self, subnet: NamedSubnet, used: Description, tables: Sequence[Description]
    ) -> Iterator[Finding]:
        said, used_id = subnet.route_table_id, used["RouteTableId"]
        if said is None or said == used_id:
            return
        if said not in {table["RouteTableId"] for table in tables}:
            yield self.found(
                "route-table-missing",
                subnet.key,
                f"{subnet.key} gives {subnet.subnet_id} the route table {said}, which "
                f"{self.vpc_id} does not have. The subnet uses {used_id}: write that there",
            )
            return
        yield self.found(
            "route-table-differs",
            subnet.key,
            f"{subnet.key} says that {subnet.subnet_id} uses the route table {said}, but it uses "
            f"{used_id}{_why_main(subnet.subnet_id, used)}. Write that there, or associate {said} "
            "with the subnet",
        )

    def _judge_private(self, subnet: NamedSubnet, used: Description) -> Iterator[Finding]:
        table = used["RouteTableId"]
        way_out = default_route(used)
        if self.internet_access and (way_out is None or way_out["State"] == "blackhole"):
            state = "has no route to 0.0.0.0/0" if way_out is None else "routes to what is gone"
            yield self.found(
                "subnet-without-internet",
                subnet.key,
                f"{subnet.key}: {subnet.subnet_id} has no way to the internet: its route table "
                f"{table} {state}. Add a route to a NAT gateway, or set internet_access=false, "
                "which makes do with endpoints",
            )
        elif not self.internet_access and way_out is not None:
            yield self.found(
                "subnet-has-internet",
                subnet.key,
                f"internet_access is false, but {subnet.subnet_id} has a route to 0.0.0.0/0 in "
                f"{table}. Remove it if traffic must stay inside, or set internet_access=true",
            )
        if way_out is not None and is_to_internet_gateway(way_out):
            yield self.found(
                "subnet-is-public",
                subnet.key,
                f"{subnet.key}: {subnet.subnet_id} is public: {table} leads to the internet "
                f"gateway {way_out['GatewayId']}, which machines without a public address cannot "
                "use. Name a subnet whose way out is a NAT gateway",
            )

    def _judge_public(self, subnet: NamedSubnet, used: Description) -> Iterator[Finding]:
        way_out = default_route(used)
        if way_out is None or not is_to_internet_gateway(way_out):
            yield self.found(
                "subnet-is-not-public",
                subnet.key,
                f"{subnet.key}: {subnet.subnet_id} is not public: its route table "
                f"{used['RouteTableId']} has no route to an internet gateway. Name a public "
                "subnet, or leave it out",
            )


def _why_main(subnet_id: str, table: Description) -> str:
    if is_associated(subnet_id, table):
        return ""
    return ", the main one, since none is associated with it"
