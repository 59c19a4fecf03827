"""Zones, networks and their parts, as EC2 describes them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any

from training.aws.errors import AwsRefused
from training.aws.request import ask, ask_all

Description = dict[str, Any]
"""Of one thing, in AWS's spelling."""

FILTER_VALUES, STATUS_IDS = 200, 100
"""In one request: values of a filter, and ids of DescribeInstanceStatus.

https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_Filter.html
https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_DescribeInstanceStatus.html
"""


class Ec2:
    """Amazon EC2 and VPC.

    Things are asked for by filter and not by id, so that one which is not there is missing from
    the answer and not an error that says nothing of the others.
    """

    def __init__(self, client: Any) -> None:
        self._client = client

    def region_status(self, region: str) -> str | None:
        """Return `opted-in`, `opt-in-not-required` or `not-opted-in`; None where it is unknown."""
        filters = _filters(region_name=[region])
        answer = ask(self._client, "describe_regions", AllRegions=True, Filters=filters)
        return next((found["OptInStatus"] for found in answer["Regions"]), None)

    def zones(self) -> list[Description]:
        """Return the region's availability zones, by name; no local zones."""
        answer = ask(
            self._client,
            "describe_availability_zones",
            Filters=_filters(zone_type=["availability-zone"]),
        )
        return sorted(answer["AvailabilityZones"], key=lambda zone: str(zone["ZoneName"]))

    def zones_with_default_subnet(self) -> set[str]:
        """Return the names of the zones in which the account has a default subnet."""
        found = self._all("describe_subnets", "Subnets", default_for_az=["true"])
        return {subnet["AvailabilityZone"] for subnet in found}

    def zones_offering(self, instance_type: str) -> set[str]:
        """Return the names of this region's zones that have an instance type."""
        offers = ask_all(
            self._client,
            "describe_instance_type_offerings",
            "InstanceTypeOfferings",
            LocationType="availability-zone",
            Filters=_filters(instance_type=[instance_type]),
        )
        return {offer["Location"] for offer in offers}

    def zones_offering_each(self, instance_types: Iterable[str]) -> dict[str, set[str]]:
        """Return the same of several types, by type; those that no zone has are left out."""
        found: dict[str, set[str]] = {}
        for some in _parts(instance_types, FILTER_VALUES):
            for offer in ask_all(
                self._client,
                "describe_instance_type_offerings",
                "InstanceTypeOfferings",
                LocationType="availability-zone",
                Filters=_filters(instance_type=some),
            ):
                found.setdefault(offer["InstanceType"], set()).add(offer["Location"])
        return found

    def instances(self, instance_ids: Iterable[str]) -> dict[str, Description]:
        """Return those instances that are there, by id; one that has ended is, for an hour."""
        found: list[Description] = []
        for some in _parts(instance_ids, FILTER_VALUES):
            found += self._all("describe_instances", "Reservations", instance_id=some)
        return {each["InstanceId"]: each for part in found for each in part["Instances"]}

    def running_instances(self) -> list[Description]:
        """Return the account's instances that run, or are about to."""
        states = ["pending", "running"]
        found = self._all("describe_instances", "Reservations", instance_state_name=states)
        return [each for part in found for each in part["Instances"]]

    def instance_statuses(self, instance_ids: Iterable[str]) -> dict[str, Description]:
        """Return AWS's own checks of instances, and what it plans for them, by id.

        Args:
            instance_ids: All are there. Those that do not run are left out of the answer.
        """
        found: list[Description] = []
        for some in _parts(instance_ids, STATUS_IDS):
            found += ask_all(
                self._client, "describe_instance_status", "InstanceStatuses", InstanceIds=some
            )
        return {each["InstanceId"]: each for each in found}

    def capacity_reservation(self, reservation_id: str) -> Description | None:
        """Return a capacity reservation; None where there is none of that id."""
        # https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_DescribeCapacityReservations.html
        # has no filter for the id.
        try:
            answer = ask(
                self._client,
                "describe_capacity_reservations",
                CapacityReservationIds=[reservation_id],
            )
        except AwsRefused as error:
            if error.code == "InvalidCapacityReservationId.NotFound":
                return None
            raise
        return next(iter(answer["CapacityReservations"]), None)

    def image(self, image_id: str) -> Description | None:
        """Return an AMI that the account may use; None where there is none of that id."""
        found = ask_all(
            self._client,
            "describe_images",
            "Images",
            Filters=_filters(image_id=[image_id]),
            # They start as before; only lists leave them out.
            IncludeDeprecated=True,
        )
        return next(iter(found), None)

    def has_key_pair(self, name: str) -> bool:
        answer = ask(self._client, "describe_key_pairs", Filters=_filters(key_name=[name]))
        return bool(answer["KeyPairs"])

    def launch_template_data(self, template_id: str, version: str) -> Description:
        """Return what instances of a launch template get.

        Args:
            version: A number, `$Latest` or `$Default`.
        """
        answer = ask(
            self._client,
            "describe_launch_template_versions",
            LaunchTemplateId=template_id,
            Versions=[version],
        )
        data: Description = answer["LaunchTemplateVersions"][0]["LaunchTemplateData"]
        return data

    def vcpus(self, instance_types: Iterable[str]) -> dict[str, int]:
        """Return how many virtual processors types have that are in this region, by type."""
        names = sorted(set(instance_types))
        if not names:
            return {}
        found = self._all("describe_instance_types", "InstanceTypes", instance_type=names)
        return {each["InstanceType"]: int(each["VCpuInfo"]["DefaultVCpus"]) for each in found}

    def vpcs(self) -> list[Description]:
        """Return all VPCs of the account in this region."""
        return self._all("describe_vpcs", "Vpcs")

    def vpc(self, vpc_id: str) -> Description | None:
        """Return a VPC; None where there is none of that id."""
        return next(iter(self._all("describe_vpcs", "Vpcs", vpc_id=[vpc_id])), None)

    def has_dns(self, vpc_id: str) -> tuple[bool, bool]:
        """Return whether a VPC resolves names, and whether it gives its members names."""
        support = ask(
            self._client, "describe_vpc_attribute", VpcId=vpc_id, Attribute="enableDnsSupport"
        )
        names = ask(
            self._client, "describe_vpc_attribute", VpcId=vpc_id, Attribute="enableDnsHostnames"
        )
        return support["EnableDnsSupport"]["Value"], names["EnableDnsHostnames"]["Value"]

    def subnets(self, subnet_ids: Iterable[str]) -> dict[str, Description]:
        """Return those subnets that are there, by id."""
        found = self._all("describe_subnets", "Subnets", subnet_id=list(subnet_ids))
        return {subnet["SubnetId"]: subnet for subnet in found}

    def route_tables(self, vpc_id: str) -> list[Description]:
        """Return all route tables of a VPC."""
        return self._all("describe_route_tables", "RouteTables", vpc_id=[vpc_id])

    def security_groups(self, group_ids: Iterable[str]) -> dict[str, Description]:
        """Return those security groups that are there, by id."""
        found = self._all("describe_security_groups", "SecurityGroups", group_id=list(group_ids))
        return {group["GroupId"]: group for group in found}

    def network_interfaces(self, interface_ids: Iterable[str]) -> list[Description]:
        """Return those network interfaces that are there."""
        return self._all(
            "describe_network_interfaces",
            "NetworkInterfaces",
            network_interface_id=list(interface_ids),
        )

    def vpc_endpoints(self, vpc_id: str) -> list[Description]:
        """Return a VPC's endpoints that are there or about to be."""
        found = self._all("describe_vpc_endpoints", "VpcEndpoints", vpc_id=[vpc_id])
        gone = {"deleting", "deleted", "rejected", "failed", "expired"}
        return [endpoint for endpoint in found if endpoint.get("State", "").lower() not in gone]

    def endpoint_services(self) -> dict[str, Description]:
        """Return the services that have endpoints in this region, by name."""
        found = ask_all(self._client, "describe_vpc_endpoint_services", "ServiceDetails")
        return {service["ServiceName"]: service for service in found}

    def addresses(self) -> list[Description]:
        """Return the account's Elastic IP addresses in this region."""
        return list(ask(self._client, "describe_addresses")["Addresses"])

    def internet_gateways(self) -> list[Description]:
        """Return the account's internet gateways in this region."""
        return self._all("describe_internet_gateways", "InternetGateways")

    def nat_gateways(self) -> list[Description]:
        """Return the NAT gateways that count against the quota."""
        # https://docs.aws.amazon.com/vpc/latest/userguide/amazon-vpc-limits.html#vpc-limits-gateways
        return ask_all(
            self._client,
            "describe_nat_gateways",
            "NatGateways",
            Filter=_filters(state=["pending", "available", "deleting"]),
        )

    def _all(self, method: str, field: str, **filters: list[str]) -> list[Description]:
        return ask_all(self._client, method, field, Filters=_filters(**filters))


def _parts(ids: Iterable[str], most: int) -> Iterator[list[str]]:
    """Yield them in lists of at most that many."""
    left = iter(ids)
    while some := list(islice(left, most)):
        yield some


def _filters(**values: list[str]) -> list[dict[str, Any]]:
    """Return filters as EC2 takes them: `vpc_id` stands for `vpc-id`."""
    return [{"Name": name.replace("_", "-"), "Values": found} for name, found in values.items()]
