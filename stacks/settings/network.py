"""Settings of NetworkStack."""

from __future__ import annotations

from collections.abc import Iterator
from ipaddress import IPv4Network
from typing import Annotated, Literal, Self

from pydantic import AfterValidator, BeforeValidator, Field, field_validator, model_validator

from stacks.endpoint_services import BY_NAME, NEEDED
from stacks.settings.existing_subnet import SECURITY_GROUP_ID, VPC_ID, Subnet, problems_of_zones
from stacks.settings.group import (
    CommaSeparated,
    OptionalText,
    SettingsGroup,
    checked_by,
    none_if_empty,
    refuse,
)
from stacks.settings.log_retention import RETENTION_ALLOWED, RetentionDays
from stacks.settings.network_rules import problems_of_network
from stacks.settings.subnet_plan import Cut, SubnetPlan, problems_of_vpc
from stacks.settings.text import shown
from training.errors import UsageError
from training.instances import Instance, find_instance

ZONES, FEWEST_ZONES, MOST_ZONES = 3, 2, 6
"""EKS wants two; no region has more than six."""

_Networks = Annotated[tuple[IPv4Network, ...], CommaSeparated]
_Subnets = Annotated[tuple[Subnet, ...], CommaSeparated]
_Count = Annotated[int | None, BeforeValidator(none_if_empty)]


def _endpoints_of_group(value: object) -> object:
    """Read `none`, `needed` and `all` as the names that they stand for."""
    groups = {"none": (), "needed": NEEDED, "all": tuple(BY_NAME)}
    return groups.get(value.strip(), value or None) if isinstance(value, str) else value


def _problems_of_endpoints(names: tuple[str, ...] | None) -> Iterator[str]:
    for name in names or ():
        if name not in BY_NAME:
            yield f"{shown(name)} is no service that has an endpoint here"
    if len(set(names or ())) != len(names or ()):
        yield "a service is there twice"


_Endpoints = Annotated[
    Annotated[tuple[str, ...], CommaSeparated] | None,
    BeforeValidator(_endpoints_of_group),
    AfterValidator(checked_by(_problems_of_endpoints)),
]


class NetworkSettings(SettingsGroup):
    """The VPC, its ways out and its record."""

    vpc_cidr: Annotated[IPv4Network, AfterValidator(checked_by(problems_of_vpc))] = Field(
        default=IPv4Network("172.30.0.0/16"),
        description="an IPv4 network of /16 to /28 without host bits, such as 172.30.0.0/16",
    )
    """Of a new VPC. If its subnets are not given, each private one is a quarter of it, or an eighth
    where there are more than three, and the public ones share the part before them."""

    availability_zones: Annotated[tuple[str, ...], CommaSeparated] = Field(
        default=(),
        description=f"{FEWEST_ZONES} to {MOST_ZONES} zones of one region, such as "
        "us-west-2a,us-west-2b,us-west-2c",
    )
    """Of a new VPC's private subnets. Without them: the first `zone_count` that CloudFormation
    finds where it deploys (Fn::GetAZs)."""

    zone_count: _Count = Field(
        default=None, ge=FEWEST_ZONES, le=MOST_ZONES, description=f"{FEWEST_ZONES} to {MOST_ZONES}"
    )
    """Of a new VPC: private subnets, each in a zone of its own; 3 unless `availability_zones` has
    another number."""

    nat_gateways: _Count = Field(
        default=None, ge=0, le=MOST_ZONES, description="0 to the number of zones"
    )
    """Of a new VPC; 1 unless `internet_access` is false. Each is in a public subnet of its own, and
    serves the private subnet of its zone and a share of the others. With 0, private subnets reach
    S3, each other and the interface endpoints, nothing else."""

    public_subnet_cidrs: _Networks = Field(
        default=(),
        description="IPv4 networks of /28 or larger inside vpc_cidr, at least one for each NAT "
        "gateway and at most one for each zone: A,B",
    )
    private_subnet_cidrs: _Networks = Field(
        default=(),
        description="IPv4 networks of /28 or larger inside vpc_cidr, one for each zone: A,B,C",
    )

    vpc_id: OptionalText = Field(
        default=None, pattern=VPC_ID, description="the id of a VPC, such as vpc-0123456789abcdef0"
    )
    """An existing VPC; it has to have DNS support and DNS hostnames."""

    private_subnets: _Subnets = Field(
        default=(),
        description="subnet-id:zone:route-table-id of each private subnet, one a zone, such as "
        "subnet-0123456789abcdef0:us-west-2a:rtb-0123456789abcdef0; the route table may be left "
        "out where s3_endpoint is existing",
    )
    """Of an existing VPC: where jobs, file systems and the notebook are."""

    public_subnets: _Subnets = Field(
        default=(),
        description="subnet-id:zone of each public subnet, one a zone, such as "
        "subnet-0123456789abcdef0:us-west-2a",
    )
    """Of an existing VPC, if it has any."""

    training_security_group_id: OptionalText = Field(
        default=None,
        pattern=SECURITY_GROUP_ID,
        description="the id of a security group, such as sg-0123456789abcdef0",
    )
    """Of an existing VPC. It has to admit all traffic from and to itself, and to let HTTPS out.
    Without it, one is made."""

    s3_endpoint: Literal["create", "existing"] = Field(
        default="create", description="create, or existing with vpc_id"
    )
    """Of an existing VPC: whether its private subnets have a gateway endpoint for S3 already."""

    flow_logs: Literal["create", "existing"] = Field(
        default="create", description="create, or existing with vpc_id"
    )
    """Of an existing VPC: whether somebody keeps flow logs of it already."""

    flow_log_retention_days: RetentionDays = Field(default=365, description=RETENTION_ALLOWED)

    internet_access: bool = Field(default=True, description="true or false")
    """With false, a new VPC has no internet gateway, no NAT gateway and no public subnet; of an
    existing one it says that there is no way out."""

    interface_endpoints: _Endpoints = Field(
        default=None, description="none, needed, all, or some of " + ", ".join(BY_NAME)
    )
    """Ways to AWS services that stay inside AWS: none, or `needed` if `internet_access` is false.
    Each is paid by the hour and by zone. An existing VPC must not have them already."""

    interface_endpoint_zones: int = Field(
        default=1, ge=1, le=MOST_ZONES, description="1 to the number of zones"
    )
    """In how many of the private subnets, from the first on, each interface endpoint has an
    address; the other subnets reach it too, while that zone is up."""

    planned_instance_type: OptionalText = Field(
        default=None, max_length=64, description="a GPU instance type, such as ml.p4d.24xlarge"
    )
    """The largest cluster that you mean to run, to check that a new VPC has addresses for it."""

    planned_instance_count: _Count = Field(default=None, ge=1, le=10_000, description="1 to 10000")
    """How many instances of `planned_instance_type`."""

    @field_validator("availability_zones")
    @classmethod
    def _zones_are_possible(cls, zones: tuple[str, ...]) -> tuple[str, ...]:
        refuse(problems_of_zones(zones))
        if zones and not FEWEST_ZONES <= len(zones) <= MOST_ZONES:
            raise ValueError(
                "one is not enough" if len(zones) == 1 else f"{len(zones)} are too many"
            )
        return zones

    @field_validator("private_subnets", "public_subnets")
    @classmethod
    def _subnets_are_possible(cls, subnets: tuple[Subnet, ...]) -> tuple[Subnet, ...]:
        refuse(problems_of_zones([subnet.zone for subnet in subnets]))
        if len({subnet.subnet_id for subnet in subnets}) != len(subnets):
            raise ValueError("a subnet is there twice")
        return subnets

    @field_validator("planned_instance_type")
    @classmethod
    def _instance_type_is_known(cls, name: str | None) -> str | None:
        if name is not None:
            _instance(name)
        return name

    @model_validator(mode="after")
    def _they_go_together(self) -> Self:
        refuse(problems_of_network(self))
        return self

    @property
    def zone_names(self) -> tuple[str, ...] | None:
        """The zones of the private subnets; None where CloudFormation finds them."""
        if self.vpc_id:
            return tuple(subnet.zone for subnet in self.private_subnets)
        return self.availability_zones or None

    @property
    def number_of_zones(self) -> int:
        """Of private subnets, each in a zone of its own."""
        return len(self.zone_names or ()) or self.zone_count or ZONES

    @property
    def number_of_public_subnets(self) -> int:
        return len(self.public_subnets if self.vpc_id else self.subnet_plan.public)

    def public_subnet_in(self, zone: int) -> int | None:
        """Return the index of the public subnet of a zone, which counts from 1; None: it has none.

        A new VPC has its public subnets in its first zones.
        """
        if not self.vpc_id:
            return zone - 1 if zone <= self.number_of_public_subnets else None
        names = [subnet.zone for subnet in self.public_subnets]
        name = self.private_subnets[zone - 1].zone
        return names.index(name) if name in names else None

    @property
    def number_of_nat_gateways(self) -> int:
        """Of a new VPC."""
        if self.nat_gateways is None:
            return 1 if self.internet_access else 0
        return self.nat_gateways

    @property
    def cut(self) -> Cut:
        """How a new VPC is cut where its subnets are not given."""
        public = max(1, self.number_of_nat_gateways) if self.internet_access else 0
        return Cut(public=public, private=self.number_of_zones)

    @property
    def subnet_plan(self) -> SubnetPlan:
        """The subnets of a new VPC."""
        if self.private_subnet_cidrs:
            return SubnetPlan(public=self.public_subnet_cidrs, private=self.private_subnet_cidrs)
        return self.cut.of(self.vpc_cidr)

    @property
    def endpoint_names(self) -> tuple[str, ...]:
        """The services with an interface endpoint."""
        if self.interface_endpoints is None:
            return () if self.internet_access else NEEDED
        return self.interface_endpoints

    @property
    def adds_nothing(self) -> bool:
        """Whether all that is asked for exists already."""
        return (
            self.training_security_group_id is not None
            and (self.s3_endpoint, self.flow_logs) == ("existing", "existing")
            and not self.endpoint_names
        )

    @property
    def planned_instance(self) -> Instance | None:
        return _instance(self.planned_instance_type) if self.planned_instance_type else None


def _instance(name: str) -> Instance:
    """Find an instance type, raising what pydantic expects."""
    try:
        return find_instance(name)
    except UsageError as error:
        raise ValueError(str(error)) from error
