"""What does not go together within the settings of the network."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from stacks.endpoint_services import NEEDED
from stacks.settings.existing_subnet import ExistingSubnet
from stacks.settings.subnet_plan import problems_of_cut, problems_of_plan

if TYPE_CHECKING:
    from stacks.settings.network import NetworkSettings

OF_NEW_VPC = (
    "vpc_cidr",
    "availability_zones",
    "zone_count",
    "nat_gateways",
    "public_subnet_cidrs",
    "private_subnet_cidrs",
)
OF_EXISTING_VPC = (
    "private_subnets",
    "public_subnets",
    "training_security_group_id",
    "s3_endpoint",
    "flow_logs",
)


def problems_of_network(settings: NetworkSettings) -> Iterator[str]:
    """Yield each problem, naming the keys, the values and what to do."""
    if settings.vpc_id:
        yield from _problems_of_existing_vpc(settings)
    else:
        yield from _needs_vpc_id(settings)
        yield from _problems_of_new_vpc(settings)
    yield from _problems_of_endpoint_zones(settings)
    yield from _plan_is_whole(settings)


def _problems_of_existing_vpc(settings: NetworkSettings) -> Iterator[str]:
    for key in settings.given(OF_NEW_VPC):
        if getattr(settings, key) != ():
            yield (
                f"{key} is for a new VPC, and vpc_id = {settings.vpc_id} names an existing one: "
                "leave one of the two out"
            )
    if not settings.private_subnets:
        yield (
            f"vpc_id = {settings.vpc_id} needs private_subnets too: "
            "subnet-id:zone:route-table-id of each, with commas between them"
        )
    yield from _route_tables_are_there(settings)
    yield from _problems_of_public_subnets(settings)


def _route_tables_are_there(settings: NetworkSettings) -> Iterator[str]:
    for subnet in settings.private_subnets:
        if settings.s3_endpoint == "create" and subnet.route_table_id is None:
            yield (
                f"private_subnets names no route table of {subnet.subnet_id}, which gets the way "
                f"to S3: write {subnet.subnet_id}:{subnet.zone}:rtb-…, or set s3_endpoint = "
                "existing where the VPC has a gateway endpoint for S3"
            )


def _problems_of_public_subnets(settings: NetworkSettings) -> Iterator[str]:
    public, private = settings.public_subnets, settings.private_subnets
    if public and not settings.internet_access:
        yield (
            "public_subnets does not go with internet_access = false: leave it out, or set "
            "internet_access = true"
        )
    for subnet_id in sorted(_ids(public) & _ids(private)):
        yield f"{subnet_id} is in private_subnets and in public_subnets: it can be in one of them"
    regions = {subnet.zone[:-1] for subnet in (*public, *private)}
    if len(regions) > 1:
        yield (
            "private_subnets and public_subnets are in different regions "
            f"({', '.join(sorted(regions))}): a VPC is in one"
        )


def _needs_vpc_id(settings: NetworkSettings) -> Iterator[str]:
    for key in settings.given(OF_EXISTING_VPC):
        # What a new VPC has anyway may be said.
        if getattr(settings, key) not in ((), "create"):
            yield f"{key} is for an existing VPC: set vpc_id too, or leave {key} out"


def _problems_of_new_vpc(settings: NetworkSettings) -> Iterator[str]:
    named, count = len(settings.availability_zones), settings.zone_count
    if named and count and named != count:
        yield (
            f"zone_count = {count}, but availability_zones names {named}: leave zone_count out, "
            f"or name {count} zones"
        )
    if settings.number_of_nat_gateways > settings.number_of_zones:
        yield (
            f"nat_gateways = {settings.nat_gateways} is more than the {settings.number_of_zones} "
            f"zones: take 0 to {settings.number_of_zones}, or more zones"
        )
    if not settings.internet_access:
        yield from _problems_without_internet(settings)
    if settings.private_subnet_cidrs or settings.public_subnet_cidrs:
        yield from _problems_of_counts(settings)
        yield from problems_of_plan(settings.vpc_cidr, settings.subnet_plan)
    else:
        yield from problems_of_cut(settings.vpc_cidr, settings.cut)


def _problems_without_internet(settings: NetworkSettings) -> Iterator[str]:
    if settings.nat_gateways:
        yield (
            f"nat_gateways = {settings.nat_gateways} does not go with internet_access = false: "
            "leave it out, or set internet_access = true"
        )
    if settings.public_subnet_cidrs:
        yield (
            "public_subnet_cidrs does not go with internet_access = false: leave it out, or set "
            "internet_access = true"
        )
    missing = [name for name in NEEDED if name not in settings.endpoint_names]
    if missing:
        yield (
            "interface_endpoints lacks what training and the notebook need where internet_access "
            f"= false: {', '.join(missing)}. Take needed, or add them"
        )


def _problems_of_counts(settings: NetworkSettings) -> Iterator[str]:
    public, private = len(settings.public_subnet_cidrs), len(settings.private_subnet_cidrs)
    zones = settings.number_of_zones
    fewest = settings.cut.public
    if not private or (not public and fewest):
        yield "public_subnet_cidrs and private_subnet_cidrs go together: set both"
    if private != zones:
        yield (
            f"the number of private_subnet_cidrs is {private}, and there are {zones} zones: give "
            f"{zones}, or change zone_count or availability_zones"
        )
    if not fewest <= public <= zones:
        yield (
            f"the number of public_subnet_cidrs is {public}: give {fewest} (nat_gateways = "
            f"{settings.number_of_nat_gateways}) to {zones} (one a zone)"
        )


def _problems_of_endpoint_zones(settings: NetworkSettings) -> Iterator[str]:
    if settings.interface_endpoint_zones > settings.number_of_zones:
        yield (
            f"interface_endpoint_zones = {settings.interface_endpoint_zones} is more than the "
            f"number of private subnets: take at most {settings.number_of_zones}"
        )


def _plan_is_whole(settings: NetworkSettings) -> Iterator[str]:
    if (settings.planned_instance_type is None) != (settings.planned_instance_count is None):
        yield (
            "planned_instance_type and planned_instance_count go together: set both, to check "
            "that there are addresses for that cluster, or neither"
        )


def _ids(subnets: tuple[ExistingSubnet, ...]) -> set[str]:
    return {subnet.subnet_id for subnet in subnets}
