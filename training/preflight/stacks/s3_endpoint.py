"""The gateway endpoint through which an existing VPC reaches S3."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from training.aws.ec2 import Ec2
from training.preflight.check import Check
from training.preflight.finding import Finding, Severity
from training.preflight.routes import s3_gateways
from training.preflight.stacks.own import OwnResources
from training.preflight.stacks.subnet import NamedSubnet

KEY = "s3_endpoint"


@dataclass(frozen=True)
class S3EndpointIsAsSaid(Check):
    """There is one on each route table, or none where one is to be made."""

    codes: ClassVar[Mapping[str, Severity]] = {
        "s3-endpoint-missing": "error",
        "s3-endpoint-exists": "error",
        "s3-endpoint-is-our-own": "error",
    }
    actions: ClassVar[tuple[str, ...]] = (
        "cloudformation:ListStackResources",
        "ec2:DescribeVpcEndpoints",
    )

    ec2: Ec2
    vpc_id: str
    subnets: Sequence[NamedSubnet]
    is_to_be_made: bool
    own: OwnResources
    """An endpoint of this stack is not in its way, and goes when the stack is to have none."""

    def find(self) -> Iterator[Finding]:
        endpoints = s3_gateways(self.ec2.vpc_endpoints(self.vpc_id))
        strangers = self.own.others(endpoints, "VpcEndpointId")
        tables = list(dict.fromkeys(s.route_table_id for s in self.subnets if s.route_table_id))
        if self.is_to_be_made:
            yield from self._refuse_second(_on(tables, strangers))
            return
        own = _on(tables, [found for found in endpoints if found not in strangers])
        if own:
            yield self._is_our_own(own)
        missing = [table for table in tables if table not in {**own, **_on(tables, strangers)}]
        if missing:
            yield self._missing(missing)

    def _refuse_second(self, holders: Mapping[str, str]) -> Iterator[Finding]:
        if holders:
            yield self.found(
                "s3-endpoint-exists",
                KEY,
                f"s3_endpoint is create, but {_led(holders)} to S3 through {_ids(holders)} "
                "already, and takes no second endpoint. Set s3_endpoint=existing",
            )

    def _is_our_own(self, holders: Mapping[str, str]) -> Finding:
        return self.found(
            "s3-endpoint-is-our-own",
            KEY,
            f"s3_endpoint is existing, but {_ids(holders)}, through which {_led(holders)} to S3, "
            f"is what {self.own.stack} made: the deploy would delete it. Set s3_endpoint=create",
        )

    def _missing(self, tables: Sequence[str]) -> Finding:
        which = "route table" if len(tables) == 1 else "route tables"
        return self.found(
            "s3-endpoint-missing",
            KEY,
            f"s3_endpoint is existing, but {self.vpc_id} has no gateway endpoint for S3 on the "
            f"{which} {', '.join(tables)}. Set s3_endpoint=create, or add the {which} to an "
            "endpoint (aws ec2 modify-vpc-endpoint --vpc-endpoint-id … --add-route-table-ids "
            f"{' '.join(tables)})",
        )


def _on(tables: Sequence[str], endpoints: Sequence[Mapping[str, Any]]) -> dict[str, str]:
    """Return route table to endpoint, of those that have one."""
    return {
        table: found["VpcEndpointId"]
        for table in tables
        for found in endpoints
        if table in found.get("RouteTableIds", [])
    }


def _led(holders: Mapping[str, str]) -> str:
    if len(holders) == 1:
        return f"the route table {next(iter(holders))} leads"
    return f"each of the route tables {', '.join(holders)} leads"


def _ids(holders: Mapping[str, str]) -> str:
    return ", ".join(dict.fromkeys(holders.values()))
