"""Which checks apply to a job planned for the cluster, and all that there are."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from training.platforms.ec2.machines import most_workers
from training.platforms.ec2.request import Ec2Request
from training.preflight.check import Check
from training.preflight.job.alternatives import alternatives_of
from training.preflight.job.cluster_data import of_data
from training.preflight.job.ec2.account import AccountIsTheClusters
from training.preflight.job.ec2.caller import CallerMayAsk
from training.preflight.job.ec2.head import DocumentIsThere, HeadIsThere
from training.preflight.job.ec2.name import NameIsNew
from training.preflight.job.ec2.quota import VcpuQuotaSuffices
from training.preflight.job.ec2.worker_group import WorkerGroup
from training.preflight.job.ec2.workers import (
    GroupTakesTheWorkers,
    NodesReachEachOther,
    ReservationHasRoom,
    TypeIsInTheZone,
)
from training.preflight.job.image import ImageIsThere
from training.preflight.job.s3_route import SubnetsLeadToS3
from training.preflight.job.whereabouts import Whereabouts
from training.preflight.peers import Members

if TYPE_CHECKING:
    from training.job import Job

ALL: tuple[type[Check], ...] = (
    AccountIsTheClusters,
    CallerMayAsk,
    HeadIsThere,
    DocumentIsThere,
    NameIsNew,
    GroupTakesTheWorkers,
    TypeIsInTheZone,
    NodesReachEachOther,
    ReservationHasRoom,
    VcpuQuotaSuffices,
)
"""Those that no other platform has."""


def checks(job: Job, request: Ec2Request, place: Whereabouts) -> Iterator[Check]:
    """Yield the checks that ask AWS about a request to the head node."""
    yield from _of_the_head(request, place)
    yield from _of_workers(job, request, place)
    yield from _of_the_image(job, request, place)
    subnets = _subnets(request)
    yield SubnetsLeadToS3(place.clients.ec2, subnets, request.region)
    nodes = Members(request.network.training_security_group_id, subnets)
    yield from of_data(job, request.storage, nodes, place)


def _of_the_head(request: Ec2Request, place: Whereabouts) -> Iterator[Check]:
    clients, cluster = place.clients, request.cluster
    yield AccountIsTheClusters(place.identity.account, request.account)
    yield HeadIsThere(
        clients.autoscaling, clients.ssm, cluster.head_group_name, by_ssm=not request.is_over_ssh
    )
    if not request.is_over_ssh:
        yield DocumentIsThere(clients.ssm, cluster.document_name)
        yield CallerMayAsk(clients.iam, place.identity, request.region, cluster.document_name)
    if not request.document["resume"]:
        yield NameIsNew(clients.logs, cluster.log_group_name, request.job_name)


def _of_workers(job: Job, request: Ec2Request, place: Whereabouts) -> Iterator[Check]:
    clients, cluster, on = place.clients, request.cluster, request.on
    group = WorkerGroup(clients.autoscaling, clients.ec2, cluster.worker_group_name)
    yield GroupTakesTheWorkers(group, on.workers, most_workers(cluster))
    others = alternatives_of(
        job, clients.ec2, clients.s3, region=request.region, bucket=request.storage.bucket_name
    )
    yield TypeIsInTheZone(clients.ec2, group, on.worker_type, cluster.zone, others)
    yield ReservationHasRoom(clients.ec2, group, on.workers)
    yield VcpuQuotaSuffices(
        clients.service_quotas, clients.ec2, group, request.region, on.worker_type, on.workers
    )
    yield NodesReachEachOther(
        clients.ec2, group, request.network.training_security_group_id, on.hosts
    )


def _of_the_image(job: Job, request: Ec2Request, place: Whereabouts) -> Iterator[Check]:
    # Nodes take images of other registries too, which nobody can be asked about here.
    image = request.image
    if image is not None and f".dkr.ecr.{request.region}." in image:
        yield ImageIsThere(
            place.clients.ecr, image, job.spec.algorithm, request.region, request.account
        )


def _subnets(request: Ec2Request) -> tuple[str, ...]:
    """Return the private subnet of the cluster's zone: all workers are there."""
    network = request.network
    zones = dict(zip(network.private_subnet_ids, network.availability_zones, strict=False))
    found = tuple(subnet for subnet, zone in zones.items() if zone == request.cluster.zone)
    return found or tuple(network.private_subnet_ids)
