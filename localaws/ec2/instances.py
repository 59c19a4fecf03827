"""Instances as EC2 makes and ends them.

moto takes a launch template's settings in part, starts what no zone offers, and does not tell an
auto-scaling group that one of its instances ended.
"""

from __future__ import annotations

from typing import Any

from moto.core.types import Base64EncodedString
from moto.core.utils import iso_8601_datetime_with_milliseconds, utcnow
from moto.ec2.exceptions import EC2ClientError
from moto.ec2.models.instances import Instance, InstanceState, Reservation
from moto.moto_api._internal import mock_random

from localaws import machine_images
from localaws.ec2 import capacity, launch
from localaws.vpc_endpoints import EndpointBackend

Description = dict[str, Any]
"""As EC2's API shows it."""


class InstanceBackend(EndpointBackend):
    """EC2's state in one region."""

    def __init__(self, region_name: str, account_id: str) -> None:
        super().__init__(region_name, account_id)
        self.placement_groups: dict[str, Description] = {}
        self.capacity_reservations: dict[str, Description] = {}

    def _load_amis(self) -> None:
        super()._load_amis()
        self.amis |= {ami.id: ami for ami in machine_images.amis(self)}

    def run_instances(
        self,
        image_id: str,
        count: int,
        user_data: Base64EncodedString | None,
        security_group_names: list[str],
        **arguments: Any,
    ) -> Reservation:
        """Start instances, all or none.

        Raises:
            EC2ClientError: EC2 would refuse, for the same reason.
        """
        template = arguments.get("launch_template") or {}
        data = dict(self._get_template_from_args(template).data) if template else {}
        if group := arguments.pop("placement_group", None):
            data["Placement"] = {**(data.get("Placement") or {}), "GroupName": group}
        arguments = launch.with_template(data, arguments)
        image_id = image_id or data.get("ImageId", "")
        groups = arguments.pop("security_group_ids", None) or data.get("SecurityGroupIds") or []
        nics = arguments["nics"]
        if nics and not groups:
            groups = [id_ for nic in nics[:1] for id_ in nic.get("Groups") or []]
        if (subnet_id := arguments.get("subnet_id")) or nics:
            subnet_id = subnet_id or nics[0].get("SubnetId")
            arguments["nics"] = launch.numbered(nics, subnet_id, groups)
        zone = self._zone(arguments)
        self._check(image_id, arguments, data, zone)
        made = []
        try:
            for _ in range(count):
                reserved = self._take(arguments["instance_type"], zone, data)
                try:
                    reservation = super().run_instances(
                        image_id,
                        1,
                        user_data,
                        security_group_names,
                        security_group_ids=list(groups),
                        **arguments,
                    )
                except Exception:
                    self._give_back(reserved)
                    raise
                made += reservation.instances
                self._finish(reservation.instances[0], nics, data, reserved)
        except Exception:
            if made:
                self.terminate_instances([instance.id for instance in made])
            raise
        reservation.instances = made
        for index, instance in enumerate(made):
            instance.ami_launch_index = index
        return reservation

    def _zone(self, arguments: dict[str, Any]) -> str:
        subnet_id = arguments.get("subnet_id")
        subnet_id = subnet_id or next((n.get("SubnetId") for n in arguments["nics"]), None)
        if subnet_id:
            return str(self.get_subnet(subnet_id).availability_zone)
        return str(arguments.get("placement") or f"{self.region_name}a")

    def _check(
        self, image_id: str, arguments: dict[str, Any], data: Description, zone: str
    ) -> None:
        self.check_names(image_id, arguments.get("key_name"))
        capacity.check_offered(arguments["instance_type"], self.region_name, zone)
        group = (data.get("Placement") or {}).get("GroupName")
        if group and group not in self.placement_groups:
            raise EC2ClientError(
                "InvalidPlacementGroup.Unknown", f"The Placement Group '{group}' is unknown."
            )

    def check_names(self, image_id: str, key_name: str | None) -> None:
        """Refuse a machine image or a key pair that is not there.

        Raises:
            EC2ClientError: Which.
        """
        self.describe_images(ami_ids=[image_id])
        if key_name and not any(pair.key_name == key_name for pair in self.key_pairs.values()):
            raise EC2ClientError(
                "InvalidKeyPair.NotFound", f"The key pair '{key_name}' does not exist"
            )

    def _take(self, instance_type: str, zone: str, data: Description) -> str | None:
        """Take one place of what there is; return the capacity reservation that it is of."""
        running = [
            each
            for each in self.all_instances()
            if each.instance_type == instance_type and each.is_running()
        ]
        capacity.check_left(self.account_id, self.region_name, zone, instance_type, len(running))
        wanted = (data.get("CapacityReservationSpecification") or {}).get(
            "CapacityReservationTarget"
        ) or {}
        if (id_ := wanted.get("CapacityReservationId")) is None:
            return None
        reservation = self.capacity_reservations.get(id_)
        capacity.check_reservation(reservation, id_, instance_type, zone)
        assert reservation
        reservation["AvailableInstanceCount"] -= 1
        return str(id_)

    def _give_back(self, reserved: str | None) -> None:
        if reserved in self.capacity_reservations:
            self.capacity_reservations[reserved]["AvailableInstanceCount"] += 1

    def _finish(
        self, instance: Instance, nics: list[Description], data: Description, reserved: str | None
    ) -> None:
        instance.capacity_reservation_id = reserved  # type: ignore[attr-defined]
        instance.placement.group_name = (data.get("Placement") or {}).get("GroupName") or ""
        launch.show(instance, nics)
        if profile := data.get("IamInstanceProfile"):
            self.associate_iam_instance_profile(
                instance.id, profile.get("Name"), profile.get("Arn")
            )

    def terminate_instances(self, instance_ids: list[str]) -> list[tuple[Instance, InstanceState]]:
        ended = super().terminate_instances(instance_ids)
        for instance, before in ended:
            if before.name != "terminated":
                self._give_back(getattr(instance, "capacity_reservation_id", None))
        # Imported late: auto-scaling groups build upon this.
        from moto.autoscaling.models import autoscaling_backends

        autoscaling_backends[self.account_id][self.region_name].notify_terminate_instances(
            instance_ids
        )
        return ended

    # Placement groups.

    def create_placement_group(self, name: str, request: Description) -> Description:
        if name in self.placement_groups:
            raise EC2ClientError(
                "InvalidPlacementGroup.Duplicate", f"The Placement Group '{name}' already exists."
            )
        group_id = f"pg-{mock_random.get_random_hex(17)}"
        made = {"GroupName": name, "GroupId": group_id, "State": "available", **request}
        made["GroupArn"] = (
            f"arn:{self.partition}:ec2:{self.region_name}:{self.account_id}:placement-group/{name}"
        )
        self.placement_groups[name] = made
        return made

    def delete_placement_group(self, name: str) -> None:
        if name not in self.placement_groups:
            raise EC2ClientError(
                "InvalidPlacementGroup.Unknown", f"The Placement Group '{name}' is unknown."
            )
        if any(i.placement.group_name == name and i.is_running() for i in self.all_instances()):
            raise EC2ClientError(
                "InvalidPlacementGroup.InUse",
                f"The placement group '{name}' is in use and may not be deleted.",
            )
        del self.placement_groups[name]

    # Capacity reservations.

    def create_capacity_reservation(self, request: Description) -> Description:
        zone = request["AvailabilityZone"]
        capacity.check_offered(request["InstanceType"], self.region_name, zone)
        count = int(request["InstanceCount"])
        id_ = f"cr-{mock_random.get_random_hex(17)}"
        now = iso_8601_datetime_with_milliseconds(utcnow())
        self.capacity_reservations[id_] = {
            "ReservationType": "default",
            "InstanceMatchCriteria": "open",
            "Tenancy": "default",
            "EndDateType": "unlimited",
            **request,
            "CapacityReservationId": id_,
            "OwnerId": self.account_id,
            "TotalInstanceCount": count,
            "AvailableInstanceCount": count,
            "State": "active",
            "StartDate": now,
            "CreateDate": now,
        }
        return self.capacity_reservations[id_]

    def find_capacity_reservation(self, id_: str) -> Description:
        if id_ not in self.capacity_reservations:
            raise EC2ClientError(
                "InvalidCapacityReservationId.NotFound",
                f"The capacity reservation ID '{id_}' does not exist",
            )
        return self.capacity_reservations[id_]
