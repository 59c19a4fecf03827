"""How much of a quota is used, without what our own stacks have made already."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

from training.aws.ec2 import Ec2
from training.aws.fsx import Fsx
from training.aws.tags import stack_of


def vpcs(ec2: Ec2, own_stack: str) -> int:
    return len(_of_others(ec2.vpcs(), own_stack))


def internet_gateways(ec2: Ec2, own_stack: str) -> int:
    return len(_of_others(ec2.internet_gateways(), own_stack))


def elastic_ips(ec2: Ec2, own_stack: str) -> int:
    return len(_of_others(ec2.addresses(), own_stack))


def nat_gateways_of_fullest_zone(ec2: Ec2, own_stack: str, zones: Sequence[str]) -> int:
    """Return the largest number in one of some zones."""
    gateways = _of_others(ec2.nat_gateways(), own_stack)
    subnets = ec2.subnets({gateway["SubnetId"] for gateway in gateways}) if gateways else {}
    by_zone = Counter(
        subnets[gateway["SubnetId"]]["AvailabilityZone"]
        for gateway in gateways
        if gateway["SubnetId"] in subnets
    )
    return max((by_zone[zone] for zone in zones), default=0)


def interface_endpoints(ec2: Ec2, own_stack: str, vpc_id: str | None) -> int:
    """Return those of a VPC; none of one that is not made yet."""
    endpoints = ec2.vpc_endpoints(vpc_id) if vpc_id else []
    return sum(
        found["VpcEndpointType"] == "Interface" for found in _of_others(endpoints, own_stack)
    )


def lustre_capacity_gib(fsx: Fsx, own_stack: str, deployment: str) -> int:
    """Return what the file systems of a deployment type have together; scratch counts as one."""
    family = deployment if deployment.startswith("PERSISTENT") else "SCRATCH"
    return sum(
        found["StorageCapacity"]
        for found in _of_others(fsx.file_systems(), own_stack)
        if found["FileSystemType"] == "LUSTRE"
        and found["LustreConfiguration"]["DeploymentType"].startswith(family)
    )


def _of_others(resources: Iterable[dict[str, Any]], own_stack: str) -> list[dict[str, Any]]:
    return [resource for resource in resources if stack_of(resource) != own_stack]
