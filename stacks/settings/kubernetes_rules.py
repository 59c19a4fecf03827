"""What does not go together within the settings of the EKS cluster, and with the network's."""

from __future__ import annotations

from collections.abc import Iterator
from ipaddress import IPv4Network
from typing import TYPE_CHECKING

from stacks.settings.arns import partition_of, partition_of_region
from stacks.settings.cluster_rules import WIDEST_PREFIX, is_open
from stacks.settings.cluster_types import OF_CAPACITY_BLOCKS, gpus_of
from training.addresses import RESERVED_BY_AWS

if TYPE_CHECKING:
    from stacks.settings.general import GeneralSettings
    from stacks.settings.kubernetes import KubernetesSettings
    from stacks.settings.network import NetworkSettings

WITHOUT_AN_AMI = {
    "p2": "K80, which NVIDIA's drivers dropped with branch 470",
    "g7": "which want driver 595",
}
"""Families that EKS's NVIDIA AMI does not drive, to why. It has driver 580, with its proprietary
modules too, so that it drives P3.

https://docs.aws.amazon.com/eks/latest/userguide/ml-eks-optimized-ami.html
https://github.com/awslabs/amazon-eks-ami/blob/main/doc/usage/g7-ami.md
"""

ADDRESSES_OF_CONTROL_PLANE = 4
"""Network interfaces that EKS has in the cluster's subnets, at most: more while it is updated.

https://docs.aws.amazon.com/eks/latest/userguide/network-reqs.html
"""


RESERVED = tuple(
    map(
        IPv4Network,
        (
            "10.0.0.0/8",
            "100.64.0.0/10",
            "127.0.0.0/8",
            "169.254.0.0/16",
            "172.16.0.0/12",
            "192.168.0.0/16",
        ),
    )
)
"""Networks that are not of the internet: EKS takes none of them for its public endpoint.

https://docs.aws.amazon.com/eks/latest/userguide/cluster-endpoint.html
"""


def problems_of_gpu_type(name: str) -> Iterator[str]:
    """Yield why a type is none for GPU nodes."""
    family = name.partition(".")[0]
    if not gpus_of(name):
        yield "it has no NVIDIA GPU, and jobs want one: take a type such as p4d.24xlarge"
    elif family in WITHOUT_AN_AMI:
        yield (
            f"EKS's NVIDIA AMI has no driver for its GPUs ({WITHOUT_AN_AMI[family]}): take "
            "another type, or ClusterStack with an AMI of your own"
        )


def problems_of_kubernetes(settings: KubernetesSettings) -> Iterator[str]:
    """Yield each problem, naming the keys, the values and what to do."""
    yield from _problems_of_api(settings)
    yield from _problems_of_capacity(settings)
    if settings.node_release and not settings.node_release.startswith(f"{settings.version}."):
        yield (
            f"eks_node_release = {settings.node_release} is not of eks_version = "
            f"{settings.version}: take a release of that version, or leave it out"
        )


def problems_of_kubernetes_place(
    kubernetes: KubernetesSettings, network: NetworkSettings, zone: int
) -> Iterator[str]:
    """Yield what of the cluster the network has no room or no way for.

    Args:
        kubernetes: The cluster's own settings.
        network: Where it is to be.
        zone: The number of the GPU nodes' private subnet.
    """
    count = network.number_of_zones
    if kubernetes.zone and kubernetes.zone > count:
        yield (
            f"eks_zone = {kubernetes.zone}, but there are {count} private subnets: take 1 to "
            f"{count}"
        )
        return
    yield from _nodes_have_addresses(kubernetes, network, zone)


def problems_of_admins(kubernetes: KubernetesSettings, general: GeneralSettings) -> Iterator[str]:
    """Yield who is to administer the cluster and cannot: EKS looks each up in its own partition."""
    region = general.aws_region
    for arn in kubernetes.admin_arns:
        if region and partition_of(arn) != partition_of_region(region):
            yield (
                f"eks_admin_arns = {arn} is of the partition {partition_of(arn)}, and aws_region = "
                f"{region} of {partition_of_region(region)}: name a role or a user there"
            )


def _problems_of_api(settings: KubernetesSettings) -> Iterator[str]:
    from stacks.settings.kubernetes import MOST_API_CIDRS

    if len(settings.api_cidrs) > MOST_API_CIDRS:
        yield (
            f"eks_api_cidrs has {len(settings.api_cidrs)} networks, and EKS takes {MOST_API_CIDRS}"
        )
    for network in settings.api_cidrs:
        if is_open(network) and not settings.allow_open_api:
            yield (
                f"eks_api_cidrs = {network} lets "
                f"{'everybody' if not network.prefixlen else 'a large part of the internet'} call "
                f"the cluster's API: name your own network, /{WIDEST_PREFIX[4]} or smaller, or "
                "leave it out and launch from inside the VPC (who wants it open all the same sets "
                "eks_allow_open_api = true)"
            )
        elif _is_reserved(network):
            yield (
                f"eks_api_cidrs = {network} is no network of the internet, and EKS takes no other "
                "here: from such a network the cluster's private endpoint is reached. Name the "
                "public address that your network goes out with, or leave it out"
            )


def _is_reserved(network: IPv4Network) -> bool:
    return any(network.subnet_of(each) for each in RESERVED)


def _problems_of_capacity(settings: KubernetesSettings) -> Iterator[str]:
    reservation, name = settings.capacity_reservation_id, settings.gpu_instance_type
    if settings.capacity_block and reservation is None:
        yield (
            "eks_capacity_block = true needs eks_capacity_reservation_id, the id of the block, "
            "such as cr-0123456789abcdef0: set both, or neither"
        )
    if settings.capacity_block and name.partition(".")[0] not in OF_CAPACITY_BLOCKS:
        yield (
            f"eks_gpu_instance_type = {name} is not sold in Capacity Blocks, which "
            f"eks_capacity_block asks for: take a type of {', '.join(OF_CAPACITY_BLOCKS)}"
        )
    if settings.spot and reservation:
        yield (
            "eks_spot = true does not go with eks_capacity_reservation_id: spot instances use no "
            "reserved capacity. Leave one of the two out"
        )
    if settings.placement_group == "create" and reservation:
        yield (
            "eks_placement_group = create does not go with eks_capacity_reservation_id = "
            f"{reservation}: reserved capacity has its place already, and a new group may be "
            "elsewhere. Leave eks_placement_group out"
        )


def _nodes_have_addresses(
    kubernetes: KubernetesSettings, network: NetworkSettings, zone: int
) -> Iterator[str]:
    """Look whether the subnets are large enough at all; an existing one's size is not known here.

    Each node has one address at least; its pods have more.
    """
    if network.vpc_id:
        return
    private = network.subnet_plan.private
    wanted = ADDRESSES_OF_CONTROL_PLANE + kubernetes.max_nodes
    room = private[zone - 1].num_addresses - RESERVED_BY_AWS
    if wanted > room:
        yield (
            f"eks_max_nodes = {kubernetes.max_nodes} and the control plane need {wanted} addresses"
            f", and the private subnet {private[zone - 1]} has {room}: take at most "
            f"{room - ADDRESSES_OF_CONTROL_PLANE}, or a larger vpc_cidr"
        )
