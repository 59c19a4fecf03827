"""The checks of the network: which apply to given settings."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from training.addresses import AddressNeed, addresses_of_instance, addresses_of_lustre
from training.preflight.check import Check
from training.preflight.stacks import quota, usage
from training.preflight.stacks.deployment import NETWORK, Deployment
from training.preflight.stacks.instance_types import InstanceTypeIsOffered
from training.preflight.stacks.interface_endpoints import (
    EndpointsAreNotThereYet,
    EndpointsAreThere,
    EndpointServicesAreOffered,
)
from training.preflight.stacks.quota import QuotaSuffices
from training.preflight.stacks.room import SubnetsHaveRoom
from training.preflight.stacks.routes import RoutesLeadWhereSaid
from training.preflight.stacks.s3_endpoint import S3EndpointIsAsSaid
from training.preflight.stacks.subnets import SubnetsAreWhereSaid
from training.preflight.stacks.training_group import TrainingGroupIsFit
from training.preflight.stacks.vpc import VpcIsFit
from training.preflight.stacks.vpc_overlap import VpcAddressesAreFree
from training.preflight.stacks.zones import ZonesAreThere

ALL: tuple[type[Check], ...] = (
    ZonesAreThere,
    VpcAddressesAreFree,
    QuotaSuffices,
    VpcIsFit,
    SubnetsAreWhereSaid,
    SubnetsHaveRoom,
    RoutesLeadWhereSaid,
    S3EndpointIsAsSaid,
    TrainingGroupIsFit,
    EndpointServicesAreOffered,
    EndpointsAreNotThereYet,
    EndpointsAreThere,
    InstanceTypeIsOffered,
)


def checks(deployment: Deployment) -> Iterator[Check]:
    """Yield those that apply."""
    if deployment.settings.network.vpc_id:
        yield from _of_existing_vpc(deployment, deployment.settings.network.vpc_id)
    else:
        yield from _of_new_vpc(deployment)
        yield from _of_new_vpc_quotas(deployment)
    yield from _of_endpoints(deployment)
    yield from _of_instances(deployment)


def _of_new_vpc(deployment: Deployment) -> Iterator[Check]:
    network, ec2 = deployment.settings.network, deployment.place.clients.ec2
    yield ZonesAreThere(
        ec2=ec2,
        region=deployment.place.region,
        planned=deployment.zones,
        names_key="availability_zones",
        count_key="zone_count",
    )
    yield VpcAddressesAreFree(ec2=ec2, cidr=network.vpc_cidr, own=deployment.own(NETWORK))


def _of_new_vpc_quotas(deployment: Deployment) -> Iterator[Check]:
    network, ec2 = deployment.settings.network, deployment.place.clients.ec2
    yield deployment.quota(
        quota.VPCS,
        wanted=1,
        count_used=partial(usage.vpcs, ec2, deployment.own(NETWORK)),
        key="vpc_id",
        alternative="Use one that is there (vpc_id)",
    )
    if network.internet_access:
        yield deployment.quota(
            quota.INTERNET_GATEWAYS,
            wanted=1,
            count_used=partial(usage.internet_gateways, ec2, deployment.own(NETWORK)),
            key="internet_access",
            alternative="Do without the internet (internet_access=false)",
        )
    gateways = network.number_of_nat_gateways
    if gateways:
        yield deployment.quota(
            quota.ELASTIC_IPS,
            wanted=gateways,
            count_used=partial(usage.elastic_ips, ec2, deployment.own(NETWORK)),
            key="nat_gateways",
            alternative="Each NAT gateway takes one: set nat_gateways lower",
        )
        yield deployment.quota(
            quota.NAT_GATEWAYS,
            wanted=1,
            count_used=lambda: usage.nat_gateways_of_fullest_zone(
                ec2, deployment.own(NETWORK), deployment.zones.resolve(ec2)[:gateways]
            ),
            key="nat_gateways",
            alternative="Name other zones (availability_zones)",
        )


def _of_existing_vpc(deployment: Deployment, vpc_id: str) -> Iterator[Check]:
    network, ec2 = deployment.settings.network, deployment.place.clients.ec2
    private, public = deployment.subnets("private"), deployment.subnets("public")
    yield VpcIsFit(ec2=ec2, region=deployment.place.region, vpc_id=vpc_id)
    yield SubnetsAreWhereSaid(ec2=ec2, vpc_id=vpc_id, subnets=private + public)
    yield RoutesLeadWhereSaid(
        ec2=ec2,
        vpc_id=vpc_id,
        private=private,
        public=public,
        internet_access=network.internet_access,
    )
    yield S3EndpointIsAsSaid(
        ec2=ec2,
        vpc_id=vpc_id,
        subnets=private,
        is_to_be_made=network.s3_endpoint == "create",
        own=deployment.own(NETWORK),
    )
    yield _of_room(deployment)
    if network.training_security_group_id:
        yield TrainingGroupIsFit(
            ec2=ec2, vpc_id=vpc_id, group_id=network.training_security_group_id
        )


def _of_room(deployment: Deployment) -> SubnetsHaveRoom:
    network, fsx = deployment.settings.network, deployment.settings.fsx
    ids = [subnet.subnet_id for subnet in network.private_subnets]
    instance, count = network.planned_instance, network.planned_instance_count
    return SubnetsHaveRoom(
        ec2=deployment.place.clients.ec2,
        cloudformation=deployment.place.clients.cloudformation,
        needs={name: _need(deployment, number) for number, name in enumerate(ids, start=1)},
        cluster=addresses_of_instance(instance) * count if instance and count else 0,
        cluster_subnet_id=ids[fsx.zone - 1] if fsx.is_wanted else None,
    )


def _need(deployment: Deployment, number: int) -> AddressNeed:
    """Return what is to be in a private subnet, the planned cluster apart.

    Args:
        deployment: What is to be deployed.
        number: Of the subnet, from 1, as the settings count zones.
    """
    settings = deployment.settings
    network, efs, fsx = settings.network, settings.efs, settings.fsx
    has_endpoints = number <= network.interface_endpoint_zones
    return AddressNeed(
        instances=0,
        lustre=addresses_of_lustre(fsx.capacity_gib) if fsx.is_new and fsx.zone == number else 0,
        mount_target=int(efs.mount_targets == "create"),
        interface_endpoints=len(network.endpoint_names) if has_endpoints else 0,
        notebook=int(deployment.settings.notebook_zone == number),
        reserved=0,
    )


def _of_endpoints(deployment: Deployment) -> Iterator[Check]:
    network, ec2 = deployment.settings.network, deployment.place.clients.ec2
    wanted = network.endpoint_names
    if wanted:
        yield EndpointServicesAreOffered(
            ec2=ec2,
            region=deployment.place.region,
            services=wanted,
            planned=deployment.zones,
            zones=network.interface_endpoint_zones,
        )
        yield deployment.quota(
            quota.INTERFACE_ENDPOINTS,
            wanted=len(wanted),
            count_used=partial(
                usage.interface_endpoints, ec2, deployment.own(NETWORK), network.vpc_id
            ),
            key="interface_endpoints",
            alternative="Have fewer made (interface_endpoints)",
        )
    if wanted and network.vpc_id:
        yield EndpointsAreNotThereYet(
            ec2=ec2, vpc_id=network.vpc_id, services=wanted, own=deployment.own(NETWORK)
        )
    if network.vpc_id and not network.internet_access:
        yield EndpointsAreThere(
            ec2=ec2,
            vpc_id=network.vpc_id,
            made=wanted,
            needed=_needed_without_internet(),
            own=deployment.own(NETWORK),
        )


def _needed_without_internet() -> tuple[str, ...]:
    from stacks.endpoint_services import NEEDED

    return NEEDED


def _of_instances(deployment: Deployment) -> Iterator[Check]:
    network, fsx = deployment.settings.network, deployment.settings.fsx
    if network.planned_instance_type:
        yield InstanceTypeIsOffered(
            ec2=deployment.place.clients.ec2,
            region=deployment.place.region,
            instance_type=network.planned_instance_type,
            type_key="planned_instance_type",
            planned=deployment.zones,
            zones_key=deployment.zones_key,
            fsx_zone=fsx.zone if fsx.is_wanted else None,
        )
