"""The checks of the EC2 cluster: which apply to given settings."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from training.outputs import ClusterOutputs
from training.preflight.check import Check
from training.preflight.stacks import quota, usage
from training.preflight.stacks.deployment import Deployment
from training.preflight.stacks.group_names import GroupNamesAreFree
from training.preflight.stacks.key_pair import KeyPairIsThere
from training.preflight.stacks.node import PlannedNode
from training.preflight.stacks.node_ami import AmiIsFit, NewestAmiIsThere
from training.preflight.stacks.node_network import (
    NodesCanMountEfs,
    NodesReachServices,
    PlacementIsOfOneType,
    SshIsNarrow,
)
from training.preflight.stacks.node_quotas import NodeQuotasSuffice
from training.preflight.stacks.node_types import NodeTypeIsOffered
from training.preflight.stacks.reservation import ReservationIsFit

ALL: tuple[type[Check], ...] = (
    NodeTypeIsOffered,
    NodeQuotasSuffice,
    KeyPairIsThere,
    NewestAmiIsThere,
    AmiIsFit,
    ReservationIsFit,
    PlacementIsOfOneType,
    NodesCanMountEfs,
    NodesReachServices,
    SshIsNarrow,
    GroupNamesAreFree,
)


def checks(deployment: Deployment) -> Iterator[Check]:
    """Yield those that apply."""
    yield from _of_nodes(deployment)
    yield from _of_amis(deployment)
    yield from _of_network(deployment)
    yield from _of_access(deployment)


def _head(deployment: Deployment) -> PlannedNode:
    return PlannedNode("head", deployment.settings.cluster.head_instance_type, 1, 1)


def _workers(deployment: Deployment) -> PlannedNode:
    cluster = deployment.settings.cluster
    return PlannedNode(
        "worker",
        cluster.worker_instance_type,
        cluster.workers,
        cluster.max_workers,
        is_spot=cluster.spot,
    )


def _head_zone(deployment: Deployment) -> int | None:
    """Return the number of the head's zone; None for a public subnet in a zone of its own."""
    settings = deployment.settings
    if not settings.cluster.has_ssh or not settings.network.vpc_id:
        # A new VPC has its public subnets in its first zones.
        in_zone = settings.network.public_subnet_in(settings.cluster_zone)
        return 1 if settings.cluster.has_ssh and in_zone is None else settings.cluster_zone
    zone = _zone_of_public_subnet(deployment)
    names = settings.network.zone_names or ()
    return names.index(zone) + 1 if zone in names else None


def _zone_of_public_subnet(deployment: Deployment) -> str:
    """Return the zone of the head's public subnet in an existing VPC."""
    settings = deployment.settings
    index = settings.network.public_subnet_in(settings.cluster_zone) or 0
    return settings.network.public_subnets[index].zone


def _group_names(deployment: Deployment) -> tuple[str, str]:
    name = deployment.settings.cluster.name
    return f"{name}-head", f"{name}-workers"


def _of_nodes(deployment: Deployment) -> Iterator[Check]:
    place, cluster = deployment.place, deployment.settings.cluster
    head, workers = _head(deployment), _workers(deployment)
    ec2, region = place.clients.ec2, place.region
    zone, head_zone = deployment.settings.cluster_zone, _head_zone(deployment)
    if head_zone is not None:
        yield NodeTypeIsOffered(
            ec2=ec2,
            region=region,
            node=head,
            planned=deployment.zones,
            zone=head_zone,
            where="public_subnets" if cluster.has_ssh else "cluster_zone",
        )
    yield NodeTypeIsOffered(
        ec2=ec2,
        region=region,
        node=workers,
        planned=deployment.zones,
        zone=zone,
        where="cluster_zone",
    )
    yield NodeQuotasSuffice(
        ec2=ec2,
        service_quotas=place.clients.service_quotas,
        region=region,
        nodes=(head,) if cluster.capacity_reservation_id else (head, workers),
        own_groups=_group_names(deployment),
    )
    if cluster.capacity_reservation_id:
        yield ReservationIsFit(
            ec2=ec2,
            region=region,
            reservation_id=cluster.capacity_reservation_id,
            is_block=cluster.capacity_block,
            workers=workers,
            planned=deployment.zones,
            zone=zone,
        )
    if cluster.has_placement_group and cluster.head_trains:
        yield PlacementIsOfOneType(types=(head.instance_type, workers.instance_type))
    yield GroupNamesAreFree(
        autoscaling=place.clients.autoscaling,
        region=region,
        names=_group_names(deployment),
        own=deployment.own(ClusterOutputs.STACK),
    )


def _of_amis(deployment: Deployment) -> Iterator[Check]:
    from stacks.settings.deep_learning_ami import base_ami

    place, cluster = deployment.place, deployment.settings.cluster
    nodes = (_head(deployment), _workers(deployment))
    lines = [base_ami(node.instance_type, like=cluster.worker_instance_type) for node in nodes]
    if cluster.ami:
        yield AmiIsFit(
            ec2=place.clients.ec2,
            region=place.region,
            ami=cluster.ami,
            nodes=nodes,
            root_device=cluster.root_device or lines[-1].root_device,
            volume_gib=cluster.volume_gib,
        )
        return
    for parameter in dict.fromkeys(line.parameter for line in lines):
        yield NewestAmiIsThere(ssm=place.clients.ssm, region=place.region, parameter=parameter)


def _of_network(deployment: Deployment) -> Iterator[Check]:
    settings, clients = deployment.settings, deployment.place.clients
    network, efs, cluster = settings.network, settings.efs, settings.cluster
    if not network.internet_access:
        yield NodesReachServices(
            ec2=clients.ec2,
            vpc_id=network.vpc_id,
            made=network.endpoint_names,
            needed=_needed_of_nodes(),
        )
        if settings.notifications.is_wanted:
            yield NodesReachServices(
                ec2=clients.ec2,
                vpc_id=network.vpc_id,
                made=network.endpoint_names,
                needed=_needed_to_tell(),
                without="nobody is told how jobs on it do",
            )
    zones = network.zone_names
    if network.vpc_id and zones:
        worker_zone = zones[settings.cluster_zone - 1]
        yield NodesCanMountEfs(
            efs=clients.efs,
            file_system_id=efs.file_system_id if efs.mount_targets == "existing" else None,
            private_zones=zones,
            head_zone=_zone_of_public_subnet(deployment) if cluster.has_ssh else worker_zone,
            worker_zone=worker_zone,
        )


def _needed_of_nodes() -> tuple[str, ...]:
    from stacks.endpoint_services import NEEDED_BY_NODES

    return NEEDED_BY_NODES


def _needed_to_tell() -> tuple[str, ...]:
    from stacks.endpoint_services import NEEDED_TO_TELL

    return NEEDED_TO_TELL


def _of_access(deployment: Deployment) -> Iterator[Check]:
    from stacks.settings.cluster_rules import is_open

    place, cluster = deployment.place, deployment.settings.cluster
    if cluster.key_name:
        yield KeyPairIsThere(ec2=place.clients.ec2, region=place.region, name=cluster.key_name)
    if not cluster.has_ssh:
        return
    yield SshIsNarrow(networks=[str(each) for each in cluster.ssh_location if is_open(each)])
    yield deployment.quota(
        quota.ELASTIC_IPS,
        wanted=1,
        count_used=partial(
            usage.elastic_ips, place.clients.ec2, deployment.own(ClusterOutputs.STACK)
        ),
        key="cluster_ssh_location",
        alternative="The head takes one: leave it out and use Session Manager",
    )
