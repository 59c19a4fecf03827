"""What does not go together within the settings of the cluster, and with those of the network."""

from __future__ import annotations

from collections.abc import Iterator
from ipaddress import IPv4Network, IPv6Network
from typing import TYPE_CHECKING

from stacks.settings.cluster_types import (
    OF_CAPACITY_BLOCKS,
    OF_OLD_AMIS,
    WITHOUT_AN_AMI,
    efa_interfaces_of,
    takes_placement_group,
)
from training.addresses import RESERVED_BY_AWS

if TYPE_CHECKING:
    from stacks.settings.cluster import ClusterSettings
    from stacks.settings.network import NetworkSettings

WIDEST_PREFIX = {4: 8, 6: 16}
"""IP version to the shortest prefix that a network may have which SSH is opened to. Two halves of
the internet are as open as the whole of it."""


def problems_of_cluster(settings: ClusterSettings) -> Iterator[str]:
    """Yield each problem, naming the keys, the values and what to do."""
    yield from _problems_of_sizes(settings)
    yield from _problems_of_ssh(settings)
    yield from _problems_of_capacity(settings)
    yield from _problems_of_placement(settings)
    yield from _problems_of_efa(settings)
    yield from _problems_of_amis(settings)


def problems_of_cluster_place(
    cluster: ClusterSettings, network: NetworkSettings, zone: int
) -> Iterator[str]:
    """Yield what of the cluster the network has no room or no way for.

    Args:
        cluster: The cluster's own settings.
        network: Where it is to be.
        zone: The number of its private subnet.
    """
    count = network.number_of_zones
    if cluster.zone and cluster.zone > count:
        yield (
            f"cluster_zone = {cluster.zone}, but there are {count} private subnets: "
            f"take 1 to {count}"
        )
        return
    if cluster.has_ssh:
        yield from _problems_of_public_subnet(cluster, network, zone)
    yield from _nodes_have_addresses(cluster, network, zone)


def _problems_of_sizes(settings: ClusterSettings) -> Iterator[str]:
    if settings.workers > settings.max_workers:
        yield (
            f"cluster_workers = {settings.workers} is more than cluster_max_workers = "
            f"{settings.max_workers}: take 0 to {settings.max_workers}, or raise "
            "cluster_max_workers"
        )


def _problems_of_ssh(settings: ClusterSettings) -> Iterator[str]:
    for address in settings.ssh_location:
        if is_open(address) and not settings.allow_open_ssh:
            shortest = WIDEST_PREFIX[address.version]
            yield (
                f"cluster_ssh_location = {address} lets "
                f"{'everybody' if not address.prefixlen else 'a large part of the internet'} try "
                f"to sign in: name your own network, /{shortest} or smaller, or leave it out and "
                "use Session Manager (who wants it open all the same sets cluster_allow_open_ssh "
                "= true)"
            )
    if settings.has_ssh and settings.head_efa:
        yield (
            f"cluster_head_instance_type = {settings.head_instance_type} with EFA has several "
            "network interfaces, and EC2 gives no public address to such an instance, which "
            "cluster_ssh_location asks for: leave cluster_ssh_location out and use Session "
            "Manager, take a head without EFA such as m6i.xlarge, or set cluster_efa = none"
        )


def is_open(address: IPv4Network | IPv6Network) -> bool:
    """Tell whether a network is so wide that anybody may be in it."""
    return address.prefixlen < WIDEST_PREFIX[address.version]


def _problems_of_capacity(settings: ClusterSettings) -> Iterator[str]:
    reservation, worker = settings.capacity_reservation_id, settings.worker_instance_type
    if settings.capacity_block and reservation is None:
        yield (
            "cluster_capacity_block = true needs cluster_capacity_reservation_id, the id of the "
            "block, such as cr-0123456789abcdef0: set both, or neither"
        )
    if settings.capacity_block and worker.partition(".")[0] not in OF_CAPACITY_BLOCKS:
        yield (
            f"cluster_worker_instance_type = {worker} is not sold in Capacity Blocks, which "
            f"cluster_capacity_block asks for: take a type of {', '.join(OF_CAPACITY_BLOCKS)}"
        )
    if settings.spot and (settings.capacity_block or reservation):
        key = (
            "cluster_capacity_block"
            if settings.capacity_block
            else "cluster_capacity_reservation_id"
        )
        yield (
            f"cluster_spot = true does not go with {key}: spot instances use no reserved "
            "capacity. Leave one of the two out"
        )


def _problems_of_placement(settings: ClusterSettings) -> Iterator[str]:
    if settings.placement_group != "create":
        return
    if settings.capacity_reservation_id:
        yield (
            "cluster_placement_group = create does not go with cluster_capacity_reservation_id = "
            f"{settings.capacity_reservation_id}: reserved capacity has its place already, and a "
            "new group may be elsewhere. Leave cluster_placement_group out"
        )
    if not takes_placement_group(settings.worker_instance_type):
        yield (
            f"cluster_worker_instance_type = {settings.worker_instance_type} cannot be in a "
            "cluster placement group: set cluster_placement_group = none, or take another type"
        )


def _problems_of_efa(settings: ClusterSettings) -> Iterator[str]:
    if settings.efa == "require" and not efa_interfaces_of(settings.worker_instance_type):
        yield (
            f"cluster_worker_instance_type = {settings.worker_instance_type} has no EFA, which "
            "cluster_efa = require asks for: take a type that has, such as p4d.24xlarge, or "
            "cluster_efa = auto"
        )


def _problems_of_amis(settings: ClusterSettings) -> Iterator[str]:
    for key in ("worker_instance_type", "head_instance_type"):
        name: str = getattr(settings, key)
        if name.partition(".")[0] in WITHOUT_AN_AMI and settings.ami is None:
            yield (
                f"cluster_{key} = {name}: no Deep Learning AMI of today has a driver for its GPUs "
                "(K80, the last is branch 470). Name an AMI of yours in cluster_ami, or take "
                "another type"
            )

    if settings.root_device and settings.ami is None:
        yield (
            f"cluster_root_device = {settings.root_device} is that of cluster_ami, and there is no "
            "cluster_ami: set that too, or leave it out"
        )
    if settings.environment and settings.runs_in != "environment":
        yield (
            f"cluster_environment = {settings.environment} is for cluster_runs_in = environment, "
            f"and cluster_runs_in = {settings.runs_in}: set that too, or leave it out"
        )

    worker = settings.worker_instance_type
    if (
        settings.runs_in == "environment"
        and worker.partition(".")[0] in OF_OLD_AMIS
        and settings.ami is None
    ):
        yield (
            "cluster_runs_in = environment needs Python 3.11, and AWS's only AMI with a driver for "
            f"cluster_worker_instance_type = {worker} is on Amazon Linux 2, which has none: take "
            "cluster_runs_in = image, or name an AMI of yours in cluster_ami"
        )


def _problems_of_public_subnet(
    cluster: ClusterSettings, network: NetworkSettings, zone: int
) -> Iterator[str]:
    shown = ",".join(map(str, cluster.ssh_location))
    if not network.internet_access:
        yield (
            f"cluster_ssh_location = {shown} cannot reach the head with internet_access = false: "
            "leave it out and use Session Manager, or set internet_access to true"
        )
    elif not network.number_of_public_subnets:
        yield (
            f"cluster_ssh_location = {shown} puts the head in a public subnet, and public_subnets "
            "names none: name one, or leave cluster_ssh_location out and use Session Manager"
        )
    elif cluster.head_trains and network.public_subnet_in(zone) is None:
        yield (
            f"cluster_head_instance_type = {cluster.head_instance_type} takes part in training, "
            f"in zone {zone}, and cluster_ssh_location = {shown} puts it in a public subnet, of "
            "which that zone has none: leave cluster_ssh_location out, take a head without GPU, "
            "or another cluster_zone"
        )


def _nodes_have_addresses(
    cluster: ClusterSettings, network: NetworkSettings, zone: int
) -> Iterator[str]:
    """Look whether the subnet is large enough at all; an existing one's size is not known here."""
    if network.vpc_id:
        return
    subnet = network.subnet_plan.private[zone - 1]
    room = subnet.num_addresses - RESERVED_BY_AWS
    if cluster.max_workers + 1 > room:
        yield (
            f"cluster_max_workers = {cluster.max_workers} and a head need {cluster.max_workers + 1}"
            f" addresses, and the private subnet {subnet} has {room}: take 1 to {room - 1}, or a "
            "larger vpc_cidr"
        )
