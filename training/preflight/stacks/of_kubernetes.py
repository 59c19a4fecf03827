"""The checks of the EKS cluster: which apply to given settings."""

from __future__ import annotations

from collections.abc import Iterator

from training.outputs import KubernetesOutputs
from training.preflight.check import Check
from training.preflight.stacks.deployment import Deployment
from training.preflight.stacks.kubernetes_access import (
    AdminsAreNamed,
    AdminsAreThere,
    ApiIsNarrow,
)
from training.preflight.stacks.kubernetes_subnets import ControlPlaneHasRoom, ControlPlaneHasZones
from training.preflight.stacks.kubernetes_version import (
    KubernetesIsRaisedByOne,
    KubernetesIsSupported,
)
from training.preflight.stacks.node import PlannedNode
from training.preflight.stacks.node_network import NodesReachServices
from training.preflight.stacks.node_quotas import NodeQuotasSuffice
from training.preflight.stacks.node_types import NodeTypeIsOffered
from training.preflight.stacks.reservation import ReservationIsFit

ALL: tuple[type[Check], ...] = (
    KubernetesIsSupported,
    KubernetesIsRaisedByOne,
    ControlPlaneHasZones,
    ControlPlaneHasRoom,
    ApiIsNarrow,
    AdminsAreNamed,
    AdminsAreThere,
)
"""Those of nodes are shared with ClusterStack's, which lists them."""


def checks(deployment: Deployment) -> Iterator[Check]:
    """Yield those that apply."""
    yield from _of_control_plane(deployment)
    yield from _of_access(deployment)
    yield from _of_nodes(deployment)


def _of_control_plane(deployment: Deployment) -> Iterator[Check]:
    place, settings = deployment.place, deployment.settings
    own = deployment.own(KubernetesOutputs.STACK)
    yield KubernetesIsSupported(
        eks=place.clients.eks, region=place.region, version=settings.kubernetes.version
    )
    yield KubernetesIsRaisedByOne(
        eks=place.clients.eks,
        region=place.region,
        name=settings.kubernetes.name,
        version=settings.kubernetes.version,
        own=own,
    )
    yield ControlPlaneHasZones(
        ec2=place.clients.ec2, planned=deployment.zones, zones_key=deployment.zones_key
    )
    if settings.network.vpc_id:
        yield ControlPlaneHasRoom(
            ec2=place.clients.ec2,
            subnet_ids=[each.subnet_id for each in settings.network.private_subnets],
            own=own,
        )


def _of_access(deployment: Deployment) -> Iterator[Check]:
    from stacks.settings.cluster_rules import is_open

    place, kubernetes = deployment.place, deployment.settings.kubernetes
    if kubernetes.is_public:
        yield ApiIsNarrow(networks=[str(each) for each in kubernetes.api_cidrs if is_open(each)])
    iam, identity, arns = place.clients.iam, place.identity, kubernetes.admin_arns
    if arns:
        yield AdminsAreThere(iam=iam, identity=identity, arns=arns)
    else:
        yield AdminsAreNamed(identity=identity)


def _gpu_nodes(deployment: Deployment) -> PlannedNode:
    kubernetes = deployment.settings.kubernetes
    return PlannedNode(
        "GPU node",
        kubernetes.gpu_instance_type,
        0,
        kubernetes.max_nodes,
        is_spot=kubernetes.spot,
        type_key="eks_gpu_instance_type",
        most_key="eks_max_nodes",
    )


def _system_nodes(deployment: Deployment) -> PlannedNode:
    kubernetes = deployment.settings.kubernetes
    return PlannedNode(
        "system node",
        kubernetes.system_instance_type,
        kubernetes.system_nodes,
        kubernetes.most_system_nodes,
        type_key="eks_system_instance_type",
        most_key="eks_system_nodes",
    )


def _of_nodes(deployment: Deployment) -> Iterator[Check]:
    place, settings = deployment.place, deployment.settings
    gpu, system = _gpu_nodes(deployment), _system_nodes(deployment)
    ec2, region, reservation = place.clients.ec2, place.region, settings.kubernetes
    for node, zone in ((system, 1), (gpu, settings.kubernetes_zone)):
        yield NodeTypeIsOffered(
            ec2=ec2,
            region=region,
            node=node,
            planned=deployment.zones,
            zone=zone,
            where="eks_zone" if node is gpu else deployment.zones_key,
        )
    yield NodeQuotasSuffice(
        ec2=ec2,
        service_quotas=place.clients.service_quotas,
        region=region,
        nodes=(system,) if reservation.capacity_reservation_id else (system, gpu),
        own_groups=(),
    )
    if reservation.capacity_reservation_id:
        yield ReservationIsFit(
            ec2=ec2,
            region=region,
            reservation_id=reservation.capacity_reservation_id,
            is_block=reservation.capacity_block,
            workers=gpu,
            planned=deployment.zones,
            zone=settings.kubernetes_zone,
            prefix="eks",
        )
    if not settings.network.internet_access:
        yield NodesReachServices(
            ec2=ec2,
            vpc_id=settings.network.vpc_id,
            made=settings.network.endpoint_names,
            needed=_needed(),
            stack=KubernetesOutputs.STACK,
        )


def _needed() -> tuple[str, ...]:
    from stacks.endpoint_services import NEEDED_BY_KUBERNETES

    return NEEDED_BY_KUBERNETES
