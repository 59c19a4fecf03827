"""Quotas, and what is used of them."""

from __future__ import annotations

from typing import Any

import pytest

from tests.training.preflight.stacks.conftest import (
    REGION,
    ZONES,
    Network,
    Stub,
    codes_of,
    only_finding_of,
    own,
)
from training.aws.clients import Clients
from training.aws.fsx import Fsx
from training.aws.service_quotas import ServiceQuotas
from training.preflight.stacks import quota, usage
from training.preflight.stacks.quota import QuotaSuffices

OF_VPCS = {"ServiceCode": "vpc", "QuotaCode": "L-F678F1CE"}


def check(quotas: ServiceQuotas, *, used: float, wanted: float = 1) -> QuotaSuffices:
    return QuotaSuffices(
        service_quotas=quotas,
        region=REGION,
        quota=quota.VPCS,
        wanted=wanted,
        count_used=lambda: used,
        key="vpc_id",
        alternative="Use one that is there (vpc_id)",
    )


def limit(stub: Stub, value: float) -> ServiceQuotas:
    call = ("get_service_quota", {"Quota": {"Value": value}}, OF_VPCS)
    return ServiceQuotas(stub("service-quotas", call))


@pytest.mark.parametrize(("used", "codes"), [(4, []), (5, ["quota-too-small"])])
def test_what_fits_passes_and_one_more_does_not(stub: Stub, used: int, codes: list[str]) -> None:
    assert codes_of(check(limit(stub, 5), used=used)) == codes


def test_the_message_says_what_is_used_and_how_to_ask_for_more(stub: Stub) -> None:
    finding = only_finding_of(check(limit(stub, 5), used=4, wanted=3), "quota-too-small")
    assert "VPCs per Region: 5 are allowed in us-east-1, 4 are used and 3 more are needed" in (
        finding.message
    )
    assert "--service-code vpc --quota-code L-F678F1CE --desired-value 7" in finding.message


def test_a_quota_that_was_never_changed_is_awss_default(stub: Stub) -> None:
    quotas = ServiceQuotas(
        stub(
            "service-quotas",
            ("get_service_quota", "NoSuchResourceException", OF_VPCS),
            ("get_aws_default_service_quota", {"Quota": {"Value": 2}}, OF_VPCS),
        )
    )
    assert codes_of(check(quotas, used=2)) == ["quota-too-small"]


def test_a_quota_that_the_region_does_not_know_is_no_finding(stub: Stub) -> None:
    quotas = ServiceQuotas(
        stub(
            "service-quotas",
            ("get_service_quota", "NoSuchResourceException", OF_VPCS),
            ("get_aws_default_service_quota", "NoSuchResourceException", OF_VPCS),
        )
    )
    assert codes_of(check(quotas, used=100)) == []


def test_the_codes_of_the_vpc_are_those_of_aws(aws: Clients) -> None:
    client = aws.boto("service-quotas")
    for one in (quota.VPCS, quota.INTERNET_GATEWAYS, quota.NAT_GATEWAYS, quota.INTERFACE_ENDPOINTS):
        answer = client.get_service_quota(ServiceCode=one.service, QuotaCode=one.code)
        assert answer["Quota"]["QuotaName"] == one.name


def test_what_the_network_uses_is_counted_without_our_own(aws: Clients, network: Network) -> None:
    address = network.ec2.describe_addresses()["Addresses"][0]["PublicIp"]
    ours = own(network.vpc_id, network.gateway_id, network.nat_id, address)
    # moto has a default VPC with an endpoint of no kind.
    for stack, left in ((own(), 1), (ours, 0)):
        assert usage.vpcs(aws.ec2, stack) == 1 + left
        assert usage.internet_gateways(aws.ec2, stack) == left
        assert usage.elastic_ips(aws.ec2, stack) == left
        assert usage.nat_gateways_of_fullest_zone(aws.ec2, stack, ZONES) == left


def test_nat_gateways_count_by_zone(aws: Clients, network: Network) -> None:
    for subnet_id in (network.subnet_ids[1], network.subnet_ids[1], network.subnet_ids[2]):
        network.ec2.create_nat_gateway(SubnetId=subnet_id, ConnectivityType="private")
    zones = ["us-east-1b", "us-east-1c"]
    assert usage.nat_gateways_of_fullest_zone(aws.ec2, own(), zones) == 2
    assert usage.nat_gateways_of_fullest_zone(aws.ec2, own(), zones[1:]) == 1


def test_interface_endpoints_count_by_vpc(aws: Clients, network: Network) -> None:
    for kind, service in (("Interface", "logs"), ("Gateway", "s3")):
        network.ec2.create_vpc_endpoint(
            VpcId=network.vpc_id,
            ServiceName=f"com.amazonaws.{REGION}.{service}",
            VpcEndpointType=kind,
        )
    assert usage.interface_endpoints(aws.ec2, own(), network.vpc_id) == 1
    assert usage.interface_endpoints(aws.ec2, own(), None) == 0


def lustre(deployment: str, capacity: int, file_system_id: str = "fs-0123456789") -> dict[str, Any]:
    return {
        "FileSystemType": "LUSTRE",
        "StorageCapacity": capacity,
        "LustreConfiguration": {"DeploymentType": deployment},
        "FileSystemId": file_system_id,
    }


@pytest.mark.parametrize(
    ("deployment", "gib"), [("PERSISTENT_2", 3600), ("PERSISTENT_1", 1200), ("SCRATCH_2", 6000)]
)
def test_lustre_capacity_counts_by_deployment_type(stub: Stub, deployment: str, gib: int) -> None:
    answer = {
        "FileSystems": [
            lustre("PERSISTENT_2", 1200),
            lustre("PERSISTENT_2", 2400),
            lustre("PERSISTENT_2", 9600, "fs-0123456789abcdef0"),
            lustre("PERSISTENT_1", 1200),
            lustre("SCRATCH_2", 2400),
            lustre("SCRATCH_1", 3600),
            {"FileSystemType": "OPENZFS", "StorageCapacity": 64},
        ]
    }
    fsx = Fsx(stub("fsx", ("describe_file_systems", answer, {})))
    assert usage.lustre_capacity_gib(fsx, own("fs-0123456789abcdef0"), deployment) == gib
