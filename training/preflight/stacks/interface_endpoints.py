"""The interface endpoints that NetworkStack is to make."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from training.aws.ec2 import Ec2
from training.aws.tags import stack_of
from training.preflight.check import Check
from training.preflight.finding import Finding, Severity
from training.preflight.stacks.planned_zones import PlannedZones

KEY = "interface_endpoints"

_PREFIXES = ("com.amazonaws.", "cn.com.amazonaws.")


@dataclass(frozen=True)
class EndpointServicesAreOffered(Check):
    """AWS offers each service's endpoint in this region, in the zones of the subnets."""

    codes: ClassVar[Mapping[str, Severity]] = {
        "endpoint-service-missing": "error",
        "endpoint-service-not-in-zone": "error",
    }
    actions: ClassVar[tuple[str, ...]] = (
        "ec2:DescribeAvailabilityZones",
        "ec2:DescribeSubnets",
        "ec2:DescribeVpcEndpointServices",
    )

    ec2: Ec2
    region: str
    services: Sequence[str]
    """The last part of their names, such as `sagemaker.api`."""
    planned: PlannedZones
    zones: int
    """In how many of them the endpoints are, from the first on."""

    def find(self) -> Iterator[Finding]:
        offered = self.ec2.endpoint_services()
        zones = self.planned.resolve(self.ec2)[: self.zones]
        for name in self.services:
            possible = _possible_names(name, self.region)
            service = next((offered[found] for found in possible if found in offered), None)
            if service is None:
                yield self.found(
                    "endpoint-service-missing",
                    KEY,
                    f"{KEY} asks for {name}, for which AWS has no endpoint in {self.region}. "
                    "Leave it out, or choose another region",
                )
                continue
            lacking = [zone for zone in zones if zone not in service["AvailabilityZones"]]
            if lacking:
                yield self.found(
                    "endpoint-service-not-in-zone",
                    KEY,
                    f"{KEY} asks for {name}, whose endpoint AWS does not have in "
                    f"{', '.join(lacking)}, only in {', '.join(service['AvailabilityZones'])}. "
                    "Leave it out, or use other zones",
                )


@dataclass(frozen=True)
class EndpointsAreNotThereYet(Check):
    """No endpoint of an existing VPC answers to the names of one that is to be made."""

    codes: ClassVar[Mapping[str, Severity]] = {"interface-endpoint-exists": "error"}
    actions: ClassVar[tuple[str, ...]] = ("ec2:DescribeVpcEndpoints",)

    ec2: Ec2
    vpc_id: str
    services: Sequence[str]
    own_stack: str

    def find(self) -> Iterator[Finding]:
        for endpoint in self.ec2.vpc_endpoints(self.vpc_id):
            name = _short_name(endpoint["ServiceName"])
            if (
                name in self.services
                and endpoint["VpcEndpointType"] == "Interface"
                and endpoint.get("PrivateDnsEnabled")
                and stack_of(endpoint) != self.own_stack
            ):
                others = ",".join(other for other in self.services if other != name) or "none"
                yield self.found(
                    "interface-endpoint-exists",
                    KEY,
                    f"{KEY} asks for {name}, but {self.vpc_id} has {endpoint['VpcEndpointId']} for "
                    "it, and a VPC takes one endpoint a name. Use that one: set "
                    f"{KEY}={others}",
                )


@dataclass(frozen=True)
class EndpointsAreThere(Check):
    """A VPC without a way out has the endpoints that jobs need, made or there before."""

    codes: ClassVar[Mapping[str, Severity]] = {"interface-endpoint-missing": "error"}
    actions: ClassVar[tuple[str, ...]] = ("ec2:DescribeVpcEndpoints",)

    ec2: Ec2
    vpc_id: str
    needed: Sequence[str]
    """Services that are needed and not to be made."""

    def find(self) -> Iterator[Finding]:
        there = {_short_name(found["ServiceName"]) for found in self.ec2.vpc_endpoints(self.vpc_id)}
        missing = [name for name in self.needed if name not in there]
        if missing:
            yield self.found(
                "interface-endpoint-missing",
                KEY,
                f"internet_access is false, and {self.vpc_id} has no endpoint for "
                f"{', '.join(missing)}, which jobs need. Have them made: {KEY}="
                f"{','.join(missing)}",
            )


def _possible_names(service: str, region: str) -> list[str]:
    """Return a service's names; those of some services begin differently in China."""
    return [f"{prefix}{region}.{service}" for prefix in _PREFIXES]


def _short_name(service_name: str) -> str:
    """Return `sagemaker.api` of `com.amazonaws.us-east-1.sagemaker.api`."""
    for prefix in _PREFIXES:
        if service_name.startswith(prefix):
            return service_name.removeprefix(prefix).partition(".")[2]
    return service_name
