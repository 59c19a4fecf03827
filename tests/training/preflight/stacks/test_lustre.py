"""An FSx for Lustre file system that exists already."""

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
)
from training.aws.clients import Clients
from training.aws.fsx import Fsx
from training.preflight.peers import Members
from training.preflight.stacks.file_system_vpc import JobsVpc
from training.preflight.stacks.lustre import LustreAdmitsJobs, LustreIsFit

ID = "fs-0123456789abcdef0"
REQUEST = {"FileSystemIds": [ID]}


def file_system(network: Network, **changes: Any) -> dict[str, Any]:
    return {
        "FileSystemId": ID,
        "FileSystemType": "LUSTRE",
        "Lifecycle": "AVAILABLE",
        "SubnetIds": [network.subnet_ids[1]],
        "NetworkInterfaceIds": [],
        "LustreConfiguration": {"MountName": "abcdefgh"},
        **changes,
    }


def answering(stub: Stub, answer: dict[str, Any] | str) -> Fsx:
    found = answer if isinstance(answer, str) else {"FileSystems": [answer]}
    return Fsx(stub("fsx", ("describe_file_systems", found, REQUEST)))


def fit(
    aws: Clients, fsx: Fsx, network: Network, *, zone: str | None = ZONES[1], new_vpc: bool = False
) -> LustreIsFit:
    return LustreIsFit(
        ec2=aws.ec2,
        fsx=fsx,
        vpc=JobsVpc(None if new_vpc else network.vpc_id, aws.cloudformation),
        region=REGION,
        file_system_id=ID,
        mount_name="abcdefgh",
        zone=zone,
    )


@pytest.mark.parametrize("zone", [ZONES[1], None])
def test_a_file_system_as_the_settings_say_passes(
    aws: Clients, network: Network, stub: Stub, zone: str | None
) -> None:
    fsx = answering(stub, file_system(network))
    assert codes_of(fit(aws, fsx, network, zone=zone)) == []


def test_one_that_is_not_there_is_an_error(aws: Clients, network: Network, stub: Stub) -> None:
    fsx = answering(stub, "FileSystemNotFound")
    assert "no such file system in us-east-1" in (
        only_finding_of(fit(aws, fsx, network), "fsx-missing").message
    )


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"FileSystemType": "OPENZFS"}, ("fsx-not-lustre", "is FSx for OPENZFS")),
        ({"Lifecycle": "MISCONFIGURED"}, ("fsx-not-available", "is MISCONFIGURED, not AVAIL")),
        (
            {"LustreConfiguration": {"MountName": "other"}},
            ("fsx-mount-name-differs", "Set fsx_mount_name=other"),
        ),
    ],
)
def test_each_difference_says_what_to_set(
    aws: Clients, network: Network, stub: Stub, changes: dict[str, Any], expected: tuple[str, str]
) -> None:
    code, words = expected
    fsx = answering(stub, file_system(network, **changes))
    assert words in only_finding_of(fit(aws, fsx, network), code).message


def test_a_subnet_of_another_vpc_says_which_vpc_to_name(
    aws: Clients, network: Network, stub: Stub
) -> None:
    vpc_id = network.ec2.create_vpc(CidrBlock="10.1.0.0/16")["Vpc"]["VpcId"]
    subnet = network.ec2.create_subnet(
        VpcId=vpc_id, CidrBlock="10.1.0.0/24", AvailabilityZone=ZONES[1]
    )
    fsx = answering(stub, file_system(network, SubnetIds=[subnet["Subnet"]["SubnetId"]]))
    finding = only_finding_of(fit(aws, fsx, network), "fsx-in-another-vpc")
    assert f"the jobs will be in {network.vpc_id}. Set vpc_id={vpc_id}" in finding.message


def test_another_zone_than_that_of_fsx_zone_is_an_error(
    aws: Clients, network: Network, stub: Stub
) -> None:
    fsx = answering(stub, file_system(network))
    finding = only_finding_of(fit(aws, fsx, network, zone=ZONES[0]), "fsx-in-another-zone")
    assert finding.path == "fsx_zone"
    assert "is in us-east-1a, but it is in us-east-1b" in finding.message


def test_a_new_vpc_cannot_hold_one_that_is_there(
    aws: Clients, network: Network, stub: Stub
) -> None:
    fsx = answering(stub, file_system(network))
    check = fit(aws, fsx, network, zone=None, new_vpc=True)
    finding = only_finding_of(check, "fsx-in-another-vpc")
    assert f"a new VPC is to be made for the jobs. Set vpc_id={network.vpc_id}" in finding.message


def admits(
    aws: Clients, fsx: Fsx, network: Network, group_id: str, *, rules_exist: bool = True
) -> LustreAdmitsJobs:
    return LustreAdmitsJobs(
        ec2=aws.ec2,
        fsx=fsx,
        file_system_id=ID,
        group_id=group_id,
        jobs=Members(network.group_id, network.subnet_ids) if rules_exist else None,
    )


def close_ways_out(network: Network, *group_ids: str) -> None:
    """Take back the rule of a new group that lets everything out."""
    for group_id in group_ids:
        network.ec2.revoke_security_group_egress(
            GroupId=group_id,
            IpPermissions=[{"IpProtocol": "-1", "IpRanges": [{"CidrIp": "0.0.0.0/0"}]}],
        )


def test_ports_that_are_all_open_both_ways_pass(aws: Clients, network: Network, stub: Stub) -> None:
    servers = network.new_group("lustre")
    close_ways_out(network, servers, network.group_id)
    for one, other in ((servers, network.group_id), (network.group_id, servers)):
        for first, last in ((988, 988), (1018, 1023)):
            network.allow(one, other, first, last)
            network.allow_out(one, other, first, last)
    fsx = answering(stub, file_system(network))
    assert codes_of(admits(aws, fsx, network, servers)) == []


def test_each_port_and_way_that_is_closed_is_named(
    aws: Clients, network: Network, stub: Stub
) -> None:
    servers = network.new_group("lustre")
    network.allow(servers, network.group_id, 988, 1020)
    network.allow(network.group_id, servers, 988, 988)
    fsx = answering(stub, file_system(network))
    finding = only_finding_of(admits(aws, fsx, network, servers), "fsx-ports-closed")
    assert finding.path == "fsx_security_group_rules"
    assert ": 1018-1023 into the file system, 1018-1023 into jobs." in finding.message


def test_ways_out_count_too(aws: Clients, network: Network, stub: Stub) -> None:
    servers = network.new_group("lustre")
    close_ways_out(network, servers)
    for one, other in ((servers, network.group_id), (network.group_id, servers)):
        network.allow(one, other, 0, 0, "-1")
    fsx = answering(stub, file_system(network))
    finding = only_finding_of(admits(aws, fsx, network, servers), "fsx-ports-closed")
    assert "988 out of the file system, 1018-1023 out of the file system." in finding.message


def test_rules_that_the_stack_adds_need_not_be_there(
    aws: Clients, network: Network, stub: Stub
) -> None:
    fsx = answering(stub, file_system(network))
    check = admits(aws, fsx, network, network.new_group("lustre"), rules_exist=False)
    assert codes_of(check) == []


def test_a_group_that_the_file_system_does_not_have_is_an_error(
    aws: Clients, network: Network, stub: Stub
) -> None:
    used, named = network.new_group("used"), network.new_group("named")
    interface = network.ec2.create_network_interface(SubnetId=network.subnet_ids[1], Groups=[used])[
        "NetworkInterface"
    ]["NetworkInterfaceId"]
    fsx = answering(stub, file_system(network, NetworkInterfaceIds=[interface]))
    check = admits(aws, fsx, network, named, rules_exist=False)
    finding = only_finding_of(check, "fsx-security-group-unused")
    assert finding.message.endswith(f"has {used}. Name that one")
    fsx = answering(stub, file_system(network, NetworkInterfaceIds=[interface]))
    assert codes_of(admits(aws, fsx, network, used, rules_exist=False)) == []


def test_a_group_that_is_not_there_is_an_error(aws: Clients, network: Network, stub: Stub) -> None:
    check = admits(aws, Fsx(stub("fsx")), network, "sg-01234567")
    assert codes_of(check) == ["fsx-security-group-missing"]
