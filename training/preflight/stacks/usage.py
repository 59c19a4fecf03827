"""How much of a quota is used, without what our own stacks have made already."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from training.aws.ec2 import Ec2
from training.aws.fsx import Fsx
from training.preflight.stacks.own import OwnResources


def vpcs(ec2: Ec2, own: OwnResources) -> int:
    return len(own.others(ec2.vpcs(), "VpcId"))


def internet_gateways(ec2: Ec2, own: OwnResources) -> int:
    return len(own.others(ec2.internet_gateways(), "InternetGatewayId"))


def elastic_ips(ec2: Ec2, own: OwnResources) -> int:
    # CloudFormation calls an address by itself, not by its allocation.
    return len(own.others(ec2.addresses(), "PublicIp"))


def nat_gateways_of_fullest_zone(ec2: Ec2, own: OwnResources, zones: Sequence[str]) -> int:
    """Return the largest number in one of some zones."""
    gateways = own.others(ec2.nat_gateways(), "NatGatewayId")
    subnets = ec2.subnets({gateway["SubnetId"] for gateway in gateways}) if gateways else {}
    by_zone = Counter(
        subnets[gateway["SubnetId"]]["AvailabilityZone"]
        for gateway in gateways
        if gateway["SubnetId"] in subnets
    )
    return max((by_zone[zone] for zone in zones), default=0)


def interface_endpoints(ec2: Ec2, own: OwnResources, vpc_id: str | None) -> int:
    """Return those of a VPC; none of one that is not made yet."""
    endpoints = ec2.vpc_endpoints(vpc_id) if vpc_id else []
    others = own.others(endpoints, "VpcEndpointId")
    return sum(found["VpcEndpointType"] == "Interface" for found in others)


def lustre_capacity_gib(fsx: Fsx, own: OwnResources, deployment: str) -> int:
    """Return what the file systems of a deployment type have together; scratch counts as one."""
    family = deployment if deployment.startswith("PERSISTENT") else "SCRATCH"
    return sum(
        found["StorageCapacity"]
        for found in own.others(fsx.file_systems(), "FileSystemId")
        if found["FileSystemType"] == "LUSTRE"
        and found["LustreConfiguration"]["DeploymentType"].startswith(family)
    )
