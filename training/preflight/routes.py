"""Where the traffic of a subnet goes: its route table, and the ways out that are in it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from training.aws.ec2 import Description

EVERYWHERE = "0.0.0.0/0"


def table_of(subnet_id: str, tables: Sequence[Description]) -> Description | None:
    """Return the table that is associated with a subnet, or else the VPC's main one.

    None where it is not among them: of a VPC that another account shares, not all are told.
    """
    for table in tables:
        if is_associated(subnet_id, table):
            return table
    is_main = (any(found.get("Main") for found in table["Associations"]) for table in tables)
    return next((table for table, main in zip(tables, is_main, strict=True) if main), None)


def is_associated(subnet_id: str, table: Description) -> bool:
    """Return whether a subnet has been given a table; else it uses the main one."""
    return any(found.get("SubnetId") == subnet_id for found in table["Associations"])


def default_route(table: Description) -> Description | None:
    """Return a table's route to 0.0.0.0/0, whether or not its target is still there."""
    routes: list[Description] = table["Routes"]
    return next((r for r in routes if r.get("DestinationCidrBlock") == EVERYWHERE), None)


def is_to_internet_gateway(route: Description) -> bool:
    """Return whether a route is of use only to machines that have public addresses."""
    return str(route.get("GatewayId", "")).startswith("igw-")


def s3_gateways(endpoints: Iterable[Description]) -> list[Description]:
    """Return those of a VPC's endpoints that lead to S3 by way of route tables."""
    return [
        found
        for found in endpoints
        if found["ServiceName"].endswith(".s3") and found["VpcEndpointType"] == "Gateway"
    ]
