"""The interface endpoints that NetworkStack is to make."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from training.aws.ec2 import Ec2
from training.preflight.check import Check
from training.preflight.finding import Finding, Severity
from training.preflight.stacks.own import OwnResources
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
    actions: ClassVar[tuple[str, ...]] = (
        "cloudformation:ListStackResources",
        "ec2:DescribeVpcEndpoints",
    )

    ec2: Ec2
    vpc_id: str
    services: Sequence[str]
    own: OwnResources
    """An endpoint of this stack is not in its way."""

    def find(self) -> Iterator[Finding]:
        endpoints = self.ec2.vpc_endpoints(self.vpc_id)
        taken = {
            _short_name(found["ServiceName"]): found["VpcEndpointId"]
            for found in self.own.others(endpoints, "VpcEndpointId")
            if found["VpcEndpointType"] == "Interface" and found.get("PrivateDnsEnabled")
        }
        there = [f"{name} ({taken[name]})" for name in self.services if name in taken]
        if there:
            rest = ",".join(name for name in self.services if name not in taken) or "none"
            yield self.found(
                "interface-endpoint-exists",
                KEY,
                f"{KEY} asks for what {self.vpc_id} has already, and a VPC takes one endpoint a "
                f"name: {', '.join(there)}. Use what is there: set {KEY}={rest}",
            )


@dataclass(frozen=True)
class EndpointsAreThere(Check):
    """A VPC without a way out has the endpoints that jobs need, made or there before."""

    codes: ClassVar[Mapping[str, Severity]] = {
        "interface-endpoint-missing": "error",
        "interface-endpoint-is-our-own": "error",
    }
    actions: ClassVar[tuple[str, ...]] = (
        "cloudformation:ListStackResources",
        "ec2:DescribeVpcEndpoints",
    )

    ec2: Ec2
    vpc_id: str
    made: Sequence[str]
    """Services whose endpoints are to be made."""
    needed: Sequence[str]
    own: OwnResources
    """Its endpoints go where they are no longer to be made."""

    def find(self) -> Iterator[Finding]:
        endpoints = self.ec2.vpc_endpoints(self.vpc_id)
        strangers = self.own.others(endpoints, "VpcEndpointId")
        there = services_of_endpoints(endpoints)
        there_of_others = services_of_endpoints(strangers)
        left = [name for name in self.needed if name not in {*self.made, *there_of_others}]
        own = [name for name in left if name in there]
        missing = [name for name in left if name not in there]
        if own:
            yield self.found(
                "interface-endpoint-is-our-own",
                KEY,
                f"{KEY} leaves out {', '.join(own)}, which jobs need without internet_access, and "
                f"whose endpoints in {self.vpc_id} are those that {self.own.stack} made: the "
                f"deploy would delete them. Set {self._with(left)}",
            )
        if missing:
            yield self.found(
                "interface-endpoint-missing",
                KEY,
                f"internet_access is false, and {self.vpc_id} has no endpoint for "
                f"{', '.join(missing)}, which jobs need. Have them made: {self._with(left)}",
            )

    def _with(self, services: Sequence[str]) -> str:
        return f"{KEY}={','.join([*self.made, *services])}"


def _possible_names(service: str, region: str) -> list[str]:
    """Return a service's names; those of some services begin differently in China."""
    return [f"{prefix}{region}.{service}" for prefix in _PREFIXES]


def services_of_endpoints(endpoints: Iterable[Mapping[str, Any]]) -> set[str]:
    """Return the services of endpoints, by the last part of their names."""
    return {_short_name(found["ServiceName"]) for found in endpoints}


def _short_name(service_name: str) -> str:
    """Return `sagemaker.api` of `com.amazonaws.us-east-1.sagemaker.api`."""
    for prefix in _PREFIXES:
        if service_name.startswith(prefix):
            return service_name.removeprefix(prefix).partition(".")[2]
    return service_name
