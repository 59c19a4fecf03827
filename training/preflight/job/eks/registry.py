"""Which checks apply to a job planned for the EKS cluster, and all that there are."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from training.platforms.eks.machines import most_nodes
from training.platforms.eks.request import EksRequest
from training.preflight.check import Check
from training.preflight.job.alternatives import alternatives_of
from training.preflight.job.cluster_data import of_data
from training.preflight.job.ec2.account import AccountIsTheClusters
from training.preflight.job.ec2.quota import VcpuQuotaSuffices
from training.preflight.job.eks.answering import ClusterAnswers
from training.preflight.job.eks.control_plane import AddonsAreThere, ClusterIsActive
from training.preflight.job.eks.inside import Inside
from training.preflight.job.eks.name import NameIsFree
from training.preflight.job.eks.namespace import (
    ClaimsAreBound,
    NamespaceIsReady,
    NamespaceQuotaSuffices,
)
from training.preflight.job.eks.node_group import NodeGroup
from training.preflight.job.eks.nodes import GroupTakesTheNodes, TypeIsInTheZones
from training.preflight.job.eks.operator import DevicePluginsRun, OperatorRuns
from training.preflight.job.group import InstancesReachEachOther
from training.preflight.job.image import ImageIsThere
from training.preflight.job.s3_route import SubnetsLeadToS3
from training.preflight.job.whereabouts import Whereabouts
from training.preflight.peers import Members

if TYPE_CHECKING:
    from training.job import Job

ALL: tuple[type[Check], ...] = (
    ClusterIsActive,
    ClusterAnswers,
    AddonsAreThere,
    GroupTakesTheNodes,
    TypeIsInTheZones,
    OperatorRuns,
    DevicePluginsRun,
    NamespaceIsReady,
    ClaimsAreBound,
    NamespaceQuotaSuffices,
    NameIsFree,
)
"""Those that no other platform has."""

CLAIM_OF_EFS, CLAIM_OF_FSX = "mask-rcnn-efs", "mask-rcnn-fsx"
"""Of charts/cluster."""

ADDONS = ("vpc-cni", "coredns", "kube-proxy", "eks-pod-identity-agent", "aws-efs-csi-driver")
"""That every job needs."""

PLUGIN_OF_GPUS = {"nvidia.com/gpu": ("nvidia", "device-plugin")}
PLUGIN_OF_EFA = {"vpc.amazonaws.com/efa": ("efa", "device-plugin")}
"""Ours, and those of their makers' own charts."""


def checks(job: Job, request: EksRequest, place: Whereabouts) -> Iterator[Check]:
    """Yield the checks that ask AWS, and the cluster, about a request."""
    inside = Inside(request.cluster)
    yield AccountIsTheClusters(place.identity.account, request.account)
    yield from _of_the_cluster(request, place, inside)
    yield from _of_the_nodes(job, request, place)
    yield from _of_the_namespace(request, inside)
    yield from _of_images(job, request, place)
    subnets = _subnets(request)
    yield SubnetsLeadToS3(place.clients.ec2, subnets, request.region)
    nodes = Members(request.network.training_security_group_id, subnets)
    yield from of_data(job, request.storage, nodes, place)


def _of_the_cluster(request: EksRequest, place: Whereabouts, inside: Inside) -> Iterator[Check]:
    eks, cluster = place.clients.eks, request.cluster
    yield ClusterIsActive(eks, cluster.cluster_name, cluster.kubernetes_version)
    yield ClusterAnswers(inside)
    has_fsx = request.places.data_fs == "fsx"
    yield AddonsAreThere(
        eks, cluster.cluster_name, (*ADDONS, *(["aws-fsx-csi-driver"] if has_fsx else []))
    )
    yield OperatorRuns(inside)
    yield DevicePluginsRun(
        inside, PLUGIN_OF_GPUS | (PLUGIN_OF_EFA if cluster.efa == "true" else {})
    )


def _of_the_nodes(job: Job, request: EksRequest, place: Whereabouts) -> Iterator[Check]:
    clients, cluster, on = place.clients, request.cluster, request.on
    group = NodeGroup(
        clients.eks, clients.autoscaling, cluster.cluster_name, cluster.gpu_node_group
    )
    yield GroupTakesTheNodes(group, on.workers, most_nodes(cluster), on.type)
    others = alternatives_of(
        job, clients.ec2, clients.s3, region=request.region, bucket=request.storage.bucket_name
    )
    yield TypeIsInTheZones(clients.ec2, on.type, cluster.gpu_zones, others)
    yield VcpuQuotaSuffices(
        clients.service_quotas, clients.ec2, group, request.region, on.type, on.workers
    )
    yield InstancesReachEachOther(
        clients.ec2,
        request.network.training_security_group_id,
        on.workers,
        has_efa=cluster.efa == "true",
    )


def _of_the_namespace(request: EksRequest, inside: Inside) -> Iterator[Check]:
    storage, on = request.storage, request.on
    yield NamespaceIsReady(inside)
    claims = {CLAIM_OF_EFS: storage.efs_id}
    if request.places.data_fs == "fsx":
        claims[CLAIM_OF_FSX] = storage.lustre(asked_by="data_source: fsx").id
    yield ClaimsAreBound(inside, claims)
    yield NamespaceQuotaSuffices(inside, on.workers * on.instance.gpus, on.workers + 1)
    yield NameIsFree(inside, request.job_name, request.fingerprint, request.resume)


def _of_images(job: Job, request: EksRequest, place: Whereabouts) -> Iterator[Check]:
    copier = request.values["job"].get("s3", {}).get("image", request.image)
    images = {request.image: job.spec.algorithm} | (
        {copier: "horovod"} if copier != request.image else {}
    )
    for image, algorithm in images.items():
        # Nodes take images of other registries too, which nobody can be asked about here.
        if f".dkr.ecr.{request.region}." in image:
            yield ImageIsThere(
                place.clients.ecr,
                image,
                algorithm,
                request.region,
                request.account,
                volume_gib=request.cluster.number("gpu_volume_gib"),
            )


def _subnets(request: EksRequest) -> tuple[str, ...]:
    """Return the private subnets of the GPU nodes' zones."""
    network, zones = request.network, request.cluster.gpu_zones
    of_zone = zip(network.private_subnet_ids, network.availability_zones, strict=False)
    found = tuple(subnet for subnet, zone in of_zone if zone in zones)
    return found or tuple(network.private_subnet_ids)
