"""Interface endpoints that are to be made, or have to be there."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from tests.training.preflight.stacks.conftest import (
    REGION,
    Network,
    Stub,
    codes_of,
    only_finding_of,
    own,
)
from training.aws.clients import Clients
from training.aws.ec2 import Ec2
from training.preflight.stacks.interface_endpoints import (
    EndpointsAreNotThereYet,
    EndpointsAreThere,
    EndpointServicesAreOffered,
)
from training.preflight.stacks.planned_zones import PlannedZones


def offered(
    ec2: Ec2, services: Sequence[str], *, region: str = REGION, zones: int = 3
) -> EndpointServicesAreOffered:
    return EndpointServicesAreOffered(
        ec2=ec2,
        region=region,
        services=services,
        planned=PlannedZones([f"{region}{letter}" for letter in "abc"], 3),
        zones=zones,
    )


def services(stub: Stub, found: dict[str, str], region: str = REGION) -> Ec2:
    """Answer with services, each with the letters of its zones."""
    details = [
        {
            "ServiceName": name,
            "AvailabilityZones": [f"{region}{letter}" for letter in letters],
        }
        for name, letters in found.items()
    ]
    answer = {"ServiceDetails": details}
    return Ec2(stub("ec2", ("describe_vpc_endpoint_services", answer, {})))


def test_services_of_all_zones_pass_also_under_the_names_of_china(stub: Stub) -> None:
    ec2 = services(stub, {"com.amazonaws.us-east-1.logs": "abc"})
    assert codes_of(offered(ec2, ["logs"])) == []
    china = "cn-north-1"
    ec2 = services(stub, {"cn.com.amazonaws.cn-north-1.logs": "abc"}, china)
    assert codes_of(offered(ec2, ["logs"], region=china)) == []


def test_a_service_that_the_region_lacks_is_an_error(stub: Stub) -> None:
    ec2 = services(stub, {"com.amazonaws.us-east-1.logs": "abc"})
    finding = only_finding_of(offered(ec2, ["logs", "fsx"]), "endpoint-service-missing")
    assert "asks for fsx, for which AWS has no endpoint in us-east-1" in finding.message


@pytest.mark.parametrize(("zones", "codes"), [(2, []), (3, ["endpoint-service-not-in-zone"])])
def test_a_service_has_to_be_in_the_zones_that_its_endpoint_is_in(
    stub: Stub, zones: int, codes: list[str]
) -> None:
    ec2 = services(stub, {"com.amazonaws.us-east-1.logs": "abd"})
    assert codes_of(offered(ec2, ["logs"], zones=zones)) == codes


def test_the_names_of_the_settings_are_those_of_aws(aws: Clients) -> None:
    from stacks.endpoint_services import BY_NAME

    assert codes_of(offered(aws.ec2, list(BY_NAME))) == []


def make(network: Network, service: str, **more: Any) -> str:
    made = network.ec2.create_vpc_endpoint(
        VpcId=network.vpc_id,
        ServiceName=f"com.amazonaws.{REGION}.{service}",
        VpcEndpointType="Interface",
        SubnetIds=network.subnet_ids[:1],
        **{"PrivateDnsEnabled": True, **more},
    )
    return str(made["VpcEndpoint"]["VpcEndpointId"])


def not_there_yet(aws: Clients, network: Network, *made: str) -> EndpointsAreNotThereYet:
    return EndpointsAreNotThereYet(
        ec2=aws.ec2, vpc_id=network.vpc_id, services=["logs", "sts", "ssm"], own=own(*made)
    )


def test_an_endpoint_that_is_there_is_in_the_way(aws: Clients, network: Network) -> None:
    make(network, "ec2")
    assert codes_of(not_there_yet(aws, network)) == []
    endpoint_id = make(network, "logs")
    finding = only_finding_of(not_there_yet(aws, network), "interface-endpoint-exists")
    assert endpoint_id in finding.message
    assert finding.message.endswith("set interface_endpoints=sts,ssm")


def test_several_that_are_there_are_one_finding_with_one_setting(
    aws: Clients, network: Network
) -> None:
    ids = [make(network, "logs"), make(network, "ssm")]
    finding = only_finding_of(not_there_yet(aws, network), "interface-endpoint-exists")
    assert f"logs ({ids[0]}), ssm ({ids[1]})" in finding.message
    assert finding.message.endswith("set interface_endpoints=sts")
    make(network, "sts")
    finding = only_finding_of(not_there_yet(aws, network), "interface-endpoint-exists")
    assert finding.message.endswith("set interface_endpoints=none")


def test_an_endpoint_without_private_names_is_not_in_the_way(
    aws: Clients, network: Network
) -> None:
    make(network, "logs", PrivateDnsEnabled=False)
    assert codes_of(not_there_yet(aws, network)) == []


def test_the_endpoint_of_an_earlier_deploy_is_not_in_the_way(
    aws: Clients, network: Network
) -> None:
    assert codes_of(not_there_yet(aws, network, make(network, "logs"))) == []


def are_there(aws: Clients, network: Network, *made: str) -> EndpointsAreThere:
    return EndpointsAreThere(
        ec2=aws.ec2,
        vpc_id=network.vpc_id,
        made=["sts"],
        needed=["logs", "sts", "sagemaker.api"],
        own=own(*made),
    )


def test_without_a_way_out_the_endpoints_that_are_not_made_have_to_be_there(
    aws: Clients, network: Network
) -> None:
    check = are_there(aws, network)
    finding = only_finding_of(check, "interface-endpoint-missing")
    assert finding.message.endswith("interface_endpoints=sts,logs,sagemaker.api")
    make(network, "logs")
    finding = only_finding_of(check, "interface-endpoint-missing")
    assert "no endpoint for sagemaker.api," in finding.message
    make(network, "sagemaker.api")
    assert codes_of(check) == []


def test_those_of_our_own_stack_are_not_there_to_stay(aws: Clients, network: Network) -> None:
    ids = [make(network, "logs"), make(network, "sagemaker.api")]
    finding = only_finding_of(are_there(aws, network, *ids), "interface-endpoint-is-our-own")
    assert "the deploy would delete them" in finding.message
    assert finding.message.endswith("Set interface_endpoints=sts,logs,sagemaker.api")
