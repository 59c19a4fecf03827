"""FSx for Lustre as a job would find it."""

from __future__ import annotations

from typing import Any

import pytest

from tests.training.preflight.stacks.conftest import Network, Stub, codes_of, only_finding_of
from training.aws.clients import Clients
from training.aws.fsx import Fsx
from training.preflight.job.lustre import JobsReachLustre, LustreIsLinked
from training.preflight.peers import Members

ID = "fs-0123456789abcdef0"
TRAIN = "mask-rcnn/sagemaker/input/train"
PATH = f"/abcdefgh/data/{TRAIN}"


@pytest.fixture
def servers_group(network: Network) -> str:
    group = network.new_group("lustre")
    for first, last in ((988, 988), (1018, 1023)):
        network.allow(group, network.group_id, first, last)
        network.allow(network.group_id, group, first, last)
    return group


def check(
    aws: Clients,
    network: Network,
    stub: Stub,
    servers_group: str,
    *,
    path: str = PATH,
    subnets: tuple[int, ...] = (1,),
    **changes: Any,
) -> JobsReachLustre:
    interface = network.ec2.create_network_interface(
        SubnetId=network.subnet_ids[1], Groups=[servers_group]
    )["NetworkInterface"]
    answer = {
        "FileSystemId": ID,
        "FileSystemType": "LUSTRE",
        "Lifecycle": "AVAILABLE",
        "SubnetIds": [network.subnet_ids[1]],
        "NetworkInterfaceIds": [interface["NetworkInterfaceId"]],
        "LustreConfiguration": {"MountName": "abcdefgh"},
        **changes,
    }
    call = ("describe_file_systems", {"FileSystems": [answer]}, {"FileSystemIds": [ID]})
    jobs = Members(network.group_id, [network.subnet_ids[number] for number in subnets])
    return JobsReachLustre(aws.ec2, Fsx(stub("fsx", call)), ID, path, jobs)


def test_one_in_the_jobs_zone_with_its_ports_open_passes(
    aws: Clients, network: Network, stub: Stub, servers_group: str
) -> None:
    assert codes_of(check(aws, network, stub, servers_group)) == []


def test_closed_ports_are_named_with_their_direction(
    aws: Clients, network: Network, stub: Stub
) -> None:
    group = network.new_group("lustre")
    network.allow(group, network.group_id, 988, 988)
    finding = only_finding_of(check(aws, network, stub, group), "fsx-ports-closed")
    assert (
        f"between {group} (the file system) and {network.group_id} (jobs): 988 into jobs, "
        "1018-1023 into the file system, 1018-1023 into jobs."
    ) in finding.message


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (
            {"Lifecycle": "MISCONFIGURED_UNAVAILABLE"},
            ("fsx-not-available", "is MISCONFIGURED_UNAVAILABLE, not AVAILABLE"),
        ),
        (
            {"path": "/other/data"},
            ("fsx-mount-name-differs", "abcdefgh, and the job's with other"),
        ),
        (
            {"subnets": (0, 1)},
            ("fsx-in-another-zone", "is in us-east-1b, and the job may run in"),
        ),
    ],
)
def test_what_does_not_fit_is_told(
    aws: Clients,
    network: Network,
    stub: Stub,
    servers_group: str,
    *,
    options: dict[str, Any],
    expected: tuple[str, str],
) -> None:
    code, message = expected
    found = only_finding_of(check(aws, network, stub, servers_group, **options), code)
    assert message in found.message


def test_one_that_is_not_there_is_an_error(aws: Clients, network: Network, stub: Stub) -> None:
    call = ("describe_file_systems", "FileSystemNotFound", {"FileSystemIds": [ID]})
    jobs = Members(network.group_id, network.subnet_ids)
    gone = JobsReachLustre(aws.ec2, Fsx(stub("fsx", call)), ID, PATH, jobs)
    assert codes_of(gone) == ["fsx-missing"]


def link(stub: Stub, *links: dict[str, Any], path: str = PATH, **lustre: Any) -> LustreIsLinked:
    """Return the check of a file system with links, which is described by `lustre`."""
    request = {"Filters": [{"Name": "file-system-id", "Values": [ID]}]}
    calls: list[Any] = [
        ("describe_data_repository_associations", {"Associations": list(links)}, request)
    ]
    if lustre:
        system = {"FileSystemId": ID, "LustreConfiguration": lustre}
        calls.append(("describe_file_systems", {"FileSystems": [system]}, {"FileSystemIds": [ID]}))
    return LustreIsLinked(Fsx(stub("fsx", *calls)), ID, path, TRAIN)


def association(**changes: Any) -> dict[str, Any]:
    return {
        "FileSystemPath": "/data",
        "DataRepositoryPath": "s3://job-bucket/ml",
        "Lifecycle": "AVAILABLE",
        **changes,
    }


@pytest.mark.parametrize(
    ("changes", "codes"),
    [
        ({}, []),
        ({"Lifecycle": "UPDATING"}, []),
        ({"Lifecycle": "CREATING"}, ["fsx-link-not-made"]),
        ({"Lifecycle": "MISCONFIGURED"}, ["fsx-link-broken"]),
        ({"Lifecycle": "FAILED", "FileSystemPath": "/"}, ["fsx-link-broken"]),
    ],
)
def test_the_link_of_the_channel_has_to_work(
    stub: Stub, changes: dict[str, Any], codes: list[str]
) -> None:
    assert codes_of(link(stub, association(**changes))) == codes


def test_what_fsx_says_of_a_broken_link_is_told(stub: Stub) -> None:
    broken = association(Lifecycle="MISCONFIGURED", FailureDetails={"Message": "access denied"})
    message = only_finding_of(link(stub, broken), "fsx-link-broken").message
    assert (
        f"/data of FSx for Lustre {ID} to s3://job-bucket/ml is MISCONFIGURED (access denied)"
        in (message)
    )


def test_a_link_that_was_deleted_is_told_with_what_makes_it_again(stub: Stub) -> None:
    elsewhere = association(FileSystemPath="/dat", Lifecycle="FAILED")
    found = only_finding_of(link(stub, elsewhere, MountName="abcdefgh"), "fsx-link-missing")
    assert found.severity == "warning"
    assert f"/data of FSx for Lustre {ID} is linked to no place in S3" in found.message
    assert f"--file-system-id {ID} --file-system-path /data " in found.message


def test_import_path_is_a_link_too(stub: Stub) -> None:
    repository = {"ImportPath": "s3://job-bucket/data"}
    assert codes_of(link(stub, MountName="a", DataRepositoryConfiguration=repository)) == []


def test_data_below_the_root_was_copied_there(stub: Stub) -> None:
    assert codes_of(link(stub, path=PATH.replace("/data/", "/"))) == []
