"""What the checks of the cluster are given."""

from __future__ import annotations

from typing import Any, TypeVar

import pytest

from stacks.settings import Settings
from tests.training.preflight.stacks.conftest import IDENTITY, REGION
from training.aws.clients import Clients
from training.preflight.check import Check
from training.preflight.stacks.deployment import Deployment
from training.preflight.stacks.node_ami import AmiIsFit, NewestAmiIsThere
from training.preflight.stacks.node_network import NodesCanMountEfs, NodesReachServices, SshIsNarrow
from training.preflight.stacks.node_quotas import NodeQuotasSuffice
from training.preflight.stacks.node_types import NodeTypeIsOffered
from training.preflight.stacks.of_cluster import checks
from training.preflight.stacks.place import Place

C = TypeVar("C", bound=Check)

VPC = {
    "vpc_id": "vpc-01234567",
    "private_subnets": "subnet-00000001:us-east-1a:rtb-01234567,"
    "subnet-00000002:us-east-1b:rtb-01234567",
    "fsx": "none",
}
SSH = {"cluster_ssh_location": "203.0.113.0/24"}


def found(clients: Clients, kind: type[C], context: dict[str, Any]) -> list[C]:
    place = Place(IDENTITY, REGION, "hnb659fds", REGION, clients)
    deployment = Deployment(context, Settings.from_context(context), place)
    return [check for check in checks(deployment) if isinstance(check, kind)]


@pytest.mark.parametrize(
    ("context", "zones"),
    [
        ({}, [("head", 1, "cluster_zone"), ("worker", 1, "cluster_zone")]),
        ({"cluster_zone": 2}, [("head", 2, "cluster_zone"), ("worker", 2, "cluster_zone")]),
        # A new VPC has its one public subnet in the first zone.
        (
            SSH | {"cluster_zone": 2},
            [("head", 1, "public_subnets"), ("worker", 2, "cluster_zone")],
        ),
        (
            VPC | SSH | {"public_subnets": "subnet-00000009:us-east-1b"},
            [("head", 2, "public_subnets"), ("worker", 1, "cluster_zone")],
        ),
        # In a zone of its own: whether EFS is there is another check's.
        (
            VPC | SSH | {"public_subnets": "subnet-00000009:us-east-1d"},
            [("worker", 1, "cluster_zone")],
        ),
    ],
)
def test_head_and_workers_are_looked_for_where_they_will_be(
    clients: Clients, context: dict[str, Any], zones: list[tuple[str, int, str]]
) -> None:
    offered = found(clients, NodeTypeIsOffered, context)
    assert [(each.node.kind, each.zone, each.where) for each in offered] == zones


def test_mount_targets_are_looked_for_in_the_zones_of_the_nodes(clients: Clients) -> None:
    context = VPC | SSH | {"public_subnets": "subnet-00000009:us-east-1d", "cluster_zone": 2}
    (check,) = found(clients, NodesCanMountEfs, context)
    assert (check.head_zone, check.worker_zone) == ("us-east-1d", "us-east-1b")
    assert (check.private_zones, check.file_system_id) == (("us-east-1a", "us-east-1b"), None)


def test_a_head_without_internet_needs_a_way_to_tell_where_somebody_is_told(
    clients: Clients,
) -> None:
    closed = {"internet_access": "false", "notebook_wheels": "wheels"}
    assert len(found(clients, NodesReachServices, closed)) == 1
    told = closed | {"notify_emails": "jo@example.org"}
    _, telling = found(clients, NodesReachServices, told)
    [finding] = telling.find()
    assert "need endpoints for events: without them nobody is told how jobs" in finding.message
    made = told | {"interface_endpoints": "all"}
    _, telling = found(clients, NodesReachServices, made)
    assert list(telling.find()) == []


def test_reserved_workers_take_nothing_of_the_quotas(clients: Clients) -> None:
    (check,) = found(clients, NodeQuotasSuffice, {"cluster_workers": 2})
    assert [(node.kind, node.first, node.most) for node in check.nodes] == [
        ("head", 1, 1),
        ("worker", 2, 4),
    ]
    reserved = {"cluster_capacity_reservation_id": "cr-0123456789abcdef0"}
    (check,) = found(clients, NodeQuotasSuffice, reserved)
    assert [node.kind for node in check.nodes] == ["head"]


def test_only_networks_that_are_too_wide_are_told(clients: Clients) -> None:
    context = {"cluster_ssh_location": "203.0.113.0/24,0.0.0.0/0", "cluster_allow_open_ssh": "true"}
    (check,) = found(clients, SshIsNarrow, context)
    assert check.networks == ["0.0.0.0/0"]


def test_each_line_of_amis_is_looked_up_once(clients: Clients) -> None:
    (newest,) = found(clients, NewestAmiIsThere, {})
    assert newest.parameter.startswith("/aws/service/deeplearning/ami/x86_64/base-oss-nvidia")
    (old,) = found(clients, NewestAmiIsThere, {"cluster_worker_instance_type": "p3.16xlarge"})
    assert "proprietary" in old.parameter
    (own,) = found(
        clients, AmiIsFit, {"cluster_ami": "ami-01234567", "cluster_root_device": "/dev/sda1"}
    )
    assert (own.root_device, own.volume_gib) == ("/dev/sda1", 200)
