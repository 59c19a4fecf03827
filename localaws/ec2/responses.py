"""EC2's operations on placement groups and capacity reservations, which moto lacks."""

from __future__ import annotations

from typing import Any, cast

from moto.core.responses import ActionResult, EmptyResult
from moto.ec2.exceptions import EC2ClientError
from moto.ec2.utils import parse_user_data

from localaws.ec2.instances import Description, InstanceBackend
from localaws.vpc_endpoints import EndpointResponse


class InstanceResponse(EndpointResponse):
    """EC2's operations."""

    @property
    def _backend(self) -> InstanceBackend:
        backend = self.ec2_backend
        assert isinstance(backend, InstanceBackend)
        return backend

    def _given(self, *names: str) -> Description:
        found = {name: self._get_param(name) for name in names}
        return {name: value for name, value in found.items() if value is not None}

    def _tags(self) -> list[dict[str, str]]:
        return [
            {"Key": key, "Value": value}
            for tags in self._parse_tag_specification().values()
            for key, value in tags.items()
        ]

    def create_launch_template_version(self) -> ActionResult:
        """Make a version; moto forgets to decode its user data, and cannot start instances then."""
        made = super().create_launch_template_version()
        shown = cast(dict[str, Any], made.result)["LaunchTemplateVersion"]
        template = self._backend.get_launch_template(shown["LaunchTemplateId"])
        user_data = self._get_param("LaunchTemplateData.UserData")
        template.get_version(shown["VersionNumber"]).data["UserData"] = parse_user_data(user_data)
        return made

    def create_placement_group(self) -> ActionResult:
        self.error_on_dryrun()
        request = self._given("Strategy", "SpreadLevel", "PartitionCount")
        request = {"Strategy": "cluster", **request, "Tags": self._tags()}
        made = self._backend.create_placement_group(self._get_param("GroupName"), request)
        return ActionResult({"PlacementGroup": made})

    def describe_placement_groups(self) -> ActionResult:
        groups = self._backend.placement_groups
        names = self._get_param("GroupNames", [])
        for name in names:
            if name not in groups:
                raise EC2ClientError(
                    "InvalidPlacementGroup.Unknown", f"The Placement Group '{name}' is unknown."
                )
        found = [group for name, group in groups.items() if not names or name in names]
        return ActionResult({"PlacementGroups": self._filtered(found)})

    def delete_placement_group(self) -> ActionResult:
        self.error_on_dryrun()
        self._backend.delete_placement_group(self._get_param("GroupName"))
        return EmptyResult()

    def create_capacity_reservation(self) -> ActionResult:
        self.error_on_dryrun()
        request = self._given(
            "InstanceType",
            "InstancePlatform",
            "AvailabilityZone",
            "InstanceCount",
            "InstanceMatchCriteria",
            "EndDateType",
            "EndDate",
        )
        made = self._backend.create_capacity_reservation({**request, "Tags": self._tags()})
        return ActionResult({"CapacityReservation": made})

    def describe_capacity_reservations(self) -> ActionResult:
        ids = self._get_param("CapacityReservationIds", [])
        found = [self._backend.find_capacity_reservation(id_) for id_ in ids]
        if not ids:
            found = list(self._backend.capacity_reservations.values())
        return ActionResult({"CapacityReservations": self._filtered(found)})

    def cancel_capacity_reservation(self) -> ActionResult:
        id_ = self._get_param("CapacityReservationId")
        self._backend.find_capacity_reservation(id_)["State"] = "cancelled"
        return ActionResult({"Return": True})

    def _filtered(self, found: list[Description]) -> list[Description]:
        for each in self._get_param("Filters", []):
            name = "".join(word.capitalize() for word in each["Name"].split("-"))
            found = [one for one in found if _shown(one.get(name)) in each["Values"]]
        return found


def _shown(value: Any) -> str:
    return str(value)
