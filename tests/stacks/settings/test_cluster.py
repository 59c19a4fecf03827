"""Settings of the cluster, alone and with those of other parts."""

from __future__ import annotations

import gzip
import importlib.resources
import json
from typing import Any

import pytest

from stacks.settings import Settings
from stacks.settings.cluster import ClusterSettings
from stacks.settings.cluster_types import (
    OF_CAPACITY_BLOCKS,
    problems_of_type,
    takes_placement_group,
)
from tests.stacks.matrix import EXISTING_VPC
from training.errors import UsageError
from training.instances import INSTANCES

HOME = "203.0.113.0/24"
BLOCK = {
    "cluster_capacity_reservation_id": "cr-0123456789abcdef0",
    "cluster_capacity_block": "true",
}


def message_of(context: dict[str, Any]) -> str:
    with pytest.raises(UsageError) as error:
        Settings.from_context(context)
    message = str(error.value)
    assert "\n" not in message
    return message


def cluster_of(context: dict[str, Any]) -> ClusterSettings:
    return Settings.from_context(context).cluster


def described_types() -> dict[str, dict[str, Any]]:
    """What EC2's DescribeInstanceTypes answers, in moto's copy."""
    packed = importlib.resources.files("moto.ec2") / "resources" / "instance_types.json.gz"
    types: dict[str, dict[str, Any]] = json.loads(gzip.decompress(packed.read_bytes()))
    return types


def test_by_default_a_small_head_waits_without_workers() -> None:
    cluster = ClusterSettings()
    assert (cluster.head_instance_type, cluster.worker_instance_type) == (
        "m6i.xlarge",
        "p4d.24xlarge",
    )
    assert (cluster.workers, cluster.max_workers) == (0, 4)
    assert (cluster.has_ssh, cluster.spot, cluster.head_trains) == (False, False, False)
    assert (cluster.worker_efa, cluster.head_efa, cluster.has_placement_group) == (4, 0, True)


@pytest.mark.parametrize(
    ("key", "value", "said"),
    [
        ("ssh_location", "203.0.113.0", None),
        ("ssh_location", f"{HOME},2001:db8::/32", None),
        (
            "ssh_location",
            "203.0.113.7/24",
            "'203.0.113.7/24' is no network (203.0.113.7/24 has host",
        ),
        ("ssh_location", "203.0.113/24", "'203.0.113/24' is no network"),
        ("ssh_location", "my-office", "'my-office' is no network"),
        ("worker_instance_type", "p4d.24xlrge", "Did you mean p4d.24xlarge"),
        ("worker_instance_type", "ml.p4d.24xlarge", "EC2's names have no ml.: take p4d.24xlarge"),
        ("worker_instance_type", "P4D.24xlarge", "in small letters, without spaces: take p4d.24"),
        ("head_instance_type", "m6i.xlarge ", "in small letters, without spaces: take m6i.xlarge"),
        ("worker_instance_type", "trn1.32xlarge", "AWS Trainium is no GPU"),
        ("worker_instance_type", "p6e-gb200.36xlarge", "p6e-gb200 has ARM processors"),
        ("head_instance_type", "m7g.xlarge", "m7g has ARM processors"),
        ("head_instance_type", "im4gn.large", "im4gn has ARM processors"),
        ("head_instance_type", "t3.large", None),
        ("head_instance_type", "m5; reboot", "no GPU instance type of that name"),
        ("max_workers", "0", "allowed is 1 to 1000"),
        ("workers", "two", "allowed is 0 to 1000"),
        ("setup_minutes", "60", "allowed is 5 to 57"),
        ("log_retention_days", "2", "CloudWatch Logs does not offer it"),
        (
            "capacity_reservation_id",
            "arn:aws:ec2:us-west-2:1:capacity-reservation/cr-1",
            "the id of",
        ),
        ("ami", "ami-latest", "allowed is the id of an AMI"),
        ("efa", "yes", "allowed is auto, require or none"),
        ("key_name", "clé", "allowed is the name of an EC2 key pair"),
        ("environment", "trainer/.venv", "allowed is an absolute path"),
        ("environment", "/opt/../etc", "allowed is an absolute path"),
        ("environment", "/opt/my trainer", "allowed is an absolute path"),
        ("environment", "/opt/trainer/", "allowed is an absolute path"),
        ("name", "my cluster", "allowed is 1 to 63 letters"),
        ("zone", "4", "there are 3 private subnets: take 1 to 3"),
    ],
)
def test_a_value_is_taken_or_refused_with_its_key_and_what_is_allowed(
    key: str, value: str, said: str | None
) -> None:
    context = {f"cluster_{key}": value}
    if said is None:
        Settings.from_context(context)
    else:
        message = message_of(context)
        assert said in message
        assert f"cluster_{key} = " in message
        assert value in message


@pytest.mark.parametrize("location", ["0.0.0.0/0", "::/0", "0.0.0.0/1", f"{HOME},128.0.0.0/1"])
def test_ssh_for_everybody_is_refused_unless_it_is_said_twice(location: str) -> None:
    assert "cluster_allow_open_ssh = true" in message_of({"cluster_ssh_location": location})
    forced = {"cluster_ssh_location": location, "cluster_allow_open_ssh": "true"}
    assert cluster_of(forced).has_ssh


@pytest.mark.parametrize(
    ("context", "said"),
    [
        (
            {"cluster_workers": "9", "cluster_max_workers": "8"},
            "cluster_workers = 9 is more than cluster_max_workers = 8: take 0 to 8",
        ),
        (
            {"cluster_efa": "require", "cluster_worker_instance_type": "g5.xlarge"},
            "cluster_worker_instance_type = g5.xlarge has no EFA",
        ),
        ({"cluster_capacity_block": "true"}, "needs cluster_capacity_reservation_id"),
        (
            {**BLOCK, "cluster_worker_instance_type": "g5.xlarge"},
            "cluster_worker_instance_type = g5.xlarge is not sold in Capacity Blocks",
        ),
        ({**BLOCK, "cluster_spot": "true"}, "does not go with cluster_capacity_block"),
        (
            {**BLOCK, "cluster_placement_group": "create"},
            "does not go with cluster_capacity_reservation_id = cr-0123456789abcdef0",
        ),
        (
            {"cluster_placement_group": "create", "cluster_worker_instance_type": "t3.large"},
            "cluster_worker_instance_type = t3.large cannot be in a cluster placement group",
        ),
        (
            {"cluster_worker_instance_type": "p2.16xlarge"},
            "cluster_worker_instance_type = p2.16xlarge: no Deep Learning AMI of today has",
        ),
        (
            {"cluster_worker_instance_type": "p3.16xlarge", "cluster_runs_in": "environment"},
            "cluster_runs_in = environment needs Python 3.11",
        ),
        (
            {"cluster_root_device": "/dev/sda1"},
            "cluster_root_device = /dev/sda1 is that of cluster_ami, and there is no cluster_ami",
        ),
        (
            {"cluster_environment": "/opt/trainer"},
            "cluster_environment = /opt/trainer is for cluster_runs_in = environment, and "
            "cluster_runs_in = image: set that too, or leave it out",
        ),
        (
            {"cluster_head_instance_type": "p4d.24xlarge", "cluster_ssh_location": HOME},
            "cluster_head_instance_type = p4d.24xlarge with EFA has several network interfaces",
        ),
        (
            {"internet_access": "false", "cluster_ssh_location": HOME},
            f"cluster_ssh_location = {HOME} cannot reach the head with internet_access = false",
        ),
        (
            {**EXISTING_VPC, "cluster_ssh_location": HOME},
            f"cluster_ssh_location = {HOME} puts the head in a public subnet, and public_subnets",
        ),
        (
            {
                "cluster_head_instance_type": "g5.xlarge",
                "cluster_ssh_location": HOME,
                "cluster_zone": "2",
            },
            "cluster_head_instance_type = g5.xlarge takes part in training, in zone 2",
        ),
        (
            {"vpc_cidr": "172.30.0.0/25", "cluster_max_workers": "27"},
            "cluster_max_workers = 27 and a head need 28 addresses, and the private subnet "
            "172.30.0.32/27 has 27: take 1 to 26",
        ),
    ],
)
def test_what_does_not_go_together_is_told_with_what_to_do(
    context: dict[str, Any], said: str
) -> None:
    assert said in message_of(context)


def test_what_goes_together_is_taken() -> None:
    for context in (
        {"cluster_worker_instance_type": "p2.16xlarge", "cluster_ami": "ami-0123456789abcdef0"},
        {
            "cluster_head_instance_type": "p4d.24xlarge",
            "cluster_ssh_location": HOME,
            "cluster_efa": "none",
        },
        {"vpc_cidr": "172.30.0.0/25", "cluster_max_workers": "26"},
        {
            **EXISTING_VPC,
            "public_subnets": "subnet-0123456789abcdef4:us-west-2b",
            "cluster_zone": "2",
            "cluster_head_instance_type": "g5.xlarge",
            "cluster_ssh_location": HOME,
        },
    ):
        Settings.from_context(context)


@pytest.mark.parametrize(
    ("context", "has_group"),
    [
        ({}, True),
        ({"cluster_placement_group": "none"}, False),
        ({"cluster_worker_instance_type": "t3.large"}, False),
        (BLOCK, False),
    ],
)
def test_a_placement_group_is_made_where_it_helps(context: dict[str, str], has_group: bool) -> None:
    assert cluster_of(context).has_placement_group is has_group


@pytest.mark.parametrize(
    ("context", "zone"),
    [({}, 1), ({"fsx_zone": "3"}, 3), ({"fsx": "none"}, 1), ({"cluster_zone": "2"}, 2)],
)
def test_the_cluster_is_in_the_zone_of_fsx_unless_told_another(
    context: dict[str, str], zone: int
) -> None:
    assert Settings.from_context(context).cluster_zone == zone


def test_capacity_blocks_are_of_the_families_that_ec2_names() -> None:
    ours = {instance.family for instance in INSTANCES}
    sold = {
        name.partition(".")[0]
        for name, described in described_types().items()
        if "capacity-block" in described["SupportedUsageClasses"]
    }
    assert set(OF_CAPACITY_BLOCKS) == sold & ours


def test_types_that_ec2_puts_in_no_placement_group_are_not_put_in_one() -> None:
    """Of the types that a node can have."""
    wrong = [
        name
        for name, described in described_types().items()
        if described["CurrentGeneration"]
        and not list(problems_of_type(name))
        and ("cluster" in described["PlacementGroupInfo"]["SupportedStrategies"])
        != takes_placement_group(name)
    ]
    assert [name for name in wrong if takes_placement_group(name)] == []
