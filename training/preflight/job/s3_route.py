"""The way from the job's subnets to S3."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from training.aws.ec2 import Description, Ec2
from training.preflight.check import Check
from training.preflight.finding import Finding, Severity
from training.preflight.routes import (
    EVERYWHERE,
    default_route,
    is_to_internet_gateway,
    s3_gateways,
    table_of,
)


@dataclass(frozen=True)
class SubnetsLeadToS3(Check):
    """The job's subnets lead to S3: through an endpoint of it, or out of the VPC.

    Whatever the data source is, images come from S3 (ECR keeps their layers there) and results go
    there. Without a way a job waits for time-outs, and fails after its machines were paid for.
    https://docs.aws.amazon.com/sagemaker/latest/dg/train-vpc.html
    https://docs.aws.amazon.com/AmazonECR/latest/userguide/vpc-endpoints.html
    """

    codes: ClassVar[Mapping[str, Severity]] = {
        "s3-route-missing": "error",
        "s3-route-missing-in-some": "warning",
    }
    actions: ClassVar[tuple[str, ...]] = (
        "ec2:DescribeRouteTables",
        "ec2:DescribeSubnets",
        "ec2:DescribeVpcEndpoints",
    )

    ec2: Ec2
    subnet_ids: Sequence[str]
    region: str

    def find(self) -> Iterator[Finding]:
        # One that is not there is another check's finding.
        there = self.ec2.subnets(self.subnet_ids)
        by_vpc: dict[str, list[str]] = {}
        for subnet_id, subnet in there.items():
            by_vpc.setdefault(subnet["VpcId"], []).append(subnet_id)
        lacking = [_Lacking(*each) for vpc_id in by_vpc for each in self._lacking(vpc_id, by_vpc)]
        if not lacking:
            return
        listed = "; ".join(
            f"{each.subnet_id}, whose route table {each.table_id} {each.why}" for each in lacking
        )
        what = f"without a way to S3: {listed}"
        remedy = f"Add one: {' and '.join(dict.fromkeys(each.remedy for each in lacking))}"
        if len(lacking) == len(there):
            yield self.found(
                "s3-route-missing",
                lacking[0].subnet_id,
                f"the job would run {what}. It could not get its image and data, and would fail "
                f"late. {remedy}",
            )
        else:
            yield self.found(
                "s3-route-missing-in-some",
                lacking[0].subnet_id,
                f"of the job's subnets, of which AWS chooses one, some are {what}. {remedy}",
            )

    def _lacking(
        self, vpc_id: str, by_vpc: Mapping[str, Sequence[str]]
    ) -> Iterator[tuple[str, str, str, str]]:
        """Yield the subnets without a way: id, route table, why, and what to do."""
        endpoints = self.ec2.vpc_endpoints(vpc_id)
        if any(_answers_for_s3(each) for each in endpoints):
            return
        gateways = s3_gateways(endpoints)
        tables = self.ec2.route_tables(vpc_id)
        for subnet_id in by_vpc[vpc_id]:
            table = table_of(subnet_id, tables)
            if table is None:
                continue
            table_id = table["RouteTableId"]
            if any(table_id in each.get("RouteTableIds", ()) for each in gateways):
                continue
            why = _why_no_way_out(table)
            if why is not None:
                yield subnet_id, table_id, why, self._remedy(vpc_id, table_id, gateways)

    def _remedy(self, vpc_id: str, table_id: str, gateways: Sequence[Description]) -> str:
        for endpoint in gateways:
            return (
                f"aws ec2 modify-vpc-endpoint --vpc-endpoint-id {endpoint['VpcEndpointId']} "
                f"--add-route-table-ids {table_id} --region {self.region}"
            )
        return (
            f"aws ec2 create-vpc-endpoint --vpc-id {vpc_id} --service-name "
            f"com.amazonaws.{self.region}.s3 --route-table-ids {table_id} --region {self.region}"
        )


@dataclass(frozen=True)
class _Lacking:
    """A subnet without a way to S3."""

    subnet_id: str
    table_id: str
    why: str
    remedy: str


def _answers_for_s3(endpoint: Description) -> bool:
    """Return whether S3's name leads to an endpoint that has addresses in the VPC.

    Its security group is not looked at: it is no matter of routes.
    """
    return (
        endpoint["ServiceName"].endswith(".s3")
        and endpoint["VpcEndpointType"] == "Interface"
        and bool(endpoint.get("PrivateDnsEnabled"))
    )


def _why_no_way_out(table: Description) -> str | None:
    """Return why a table does not lead out of the VPC; None where it does, or may.

    A route to a transit gateway, a peer or a firewall is taken for one that goes on from there, as
    is one to a list of prefixes, which may be S3's.
    """
    usable = [r for r in table["Routes"] if r.get("State") != "blackhole"]
    if any("DestinationPrefixListId" in each for each in usable):
        return None
    way_out = default_route({"Routes": usable})
    if way_out is None:
        is_broken = default_route(table) is not None
        state = "routes to what is gone" if is_broken else f"has no route to {EVERYWHERE}"
        return f"{state}, and no endpoint of S3"
    if is_to_internet_gateway(way_out):
        return (
            f"leads to the internet gateway {way_out['GatewayId']} alone, which machines without "
            "a public address cannot use"
        )
    return None
