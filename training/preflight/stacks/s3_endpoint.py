"""The gateway endpoint through which an existing VPC reaches S3."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from training.aws.ec2 import Ec2
from training.aws.tags import stack_of
from training.preflight.check import Check
from training.preflight.finding import Finding, Severity
from training.preflight.stacks.subnet import NamedSubnet


@dataclass(frozen=True)
class S3EndpointIsAsSaid(Check):
    """There is one on each route table, or none where one is to be made."""

    codes: ClassVar[Mapping[str, Severity]] = {
        "s3-endpoint-missing": "error",
        "s3-endpoint-exists": "error",
    }
    actions: ClassVar[tuple[str, ...]] = ("ec2:DescribeVpcEndpoints",)

    ec2: Ec2
    vpc_id: str
    subnets: Sequence[NamedSubnet]
    is_to_be_made: bool
    own_stack: str
    """An endpoint that this stack made is not in its way."""

    def find(self) -> Iterator[Finding]:
        endpoints = [
            found
            for found in self.ec2.vpc_endpoints(self.vpc_id)
            if found["ServiceName"].endswith(".s3") and found["VpcEndpointType"] == "Gateway"
        ]
        tables = list(dict.fromkeys(s.route_table_id for s in self.subnets if s.route_table_id))
        for table in tables:
            holders = [found for found in endpoints if table in found.get("RouteTableIds", [])]
            if self.is_to_be_made:
                strangers = [found for found in holders if stack_of(found) != self.own_stack]
                yield from self._refuse_second(table, strangers)
            elif not holders:
                yield self._missing(table)

    def _refuse_second(
        self, table: str, strangers: Sequence[Mapping[str, str]]
    ) -> Iterator[Finding]:
        for endpoint in strangers:
            yield self.found(
                "s3-endpoint-exists",
                "s3_endpoint",
                f"s3_endpoint is create, but the route table {table} leads to S3 through "
                f"{endpoint['VpcEndpointId']} already, and takes no second one. Set "
                "s3_endpoint=existing",
            )

    def _missing(self, table: str) -> Finding:
        return self.found(
            "s3-endpoint-missing",
            "s3_endpoint",
            f"s3_endpoint is existing, but {self.vpc_id} has no gateway endpoint for S3 on the "
            f"route table {table}. Set s3_endpoint=create, or add the table to an endpoint (aws "
            f"ec2 modify-vpc-endpoint --add-route-table-ids {table})",
        )
