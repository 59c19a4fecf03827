"""The group that a job's workers come from, as AWS has it."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Any

from training.aws.autoscaling import AutoScaling
from training.aws.ec2 import Ec2

ACTIONS = ("autoscaling:DescribeAutoScalingGroups", "ec2:DescribeLaunchTemplateVersions")


class WorkerGroup:
    """Asked once for all checks; what of it is not there, the checks say."""

    def __init__(self, autoscaling: AutoScaling, ec2: Ec2, name: str) -> None:
        self._autoscaling = autoscaling
        self._ec2 = ec2
        self.name = name

    @cached_property
    def description(self) -> Mapping[str, Any] | None:
        """The group; None where there is none of that name."""
        return self._autoscaling.groups([self.name]).get(self.name)

    @property
    def zones(self) -> tuple[str, ...]:
        return tuple((self.description or {}).get("AvailabilityZones", ()))

    @property
    def instances(self) -> int:
        """How many it has, or is about to have."""
        return len((self.description or {}).get("Instances", ()))

    @cached_property
    def launch(self) -> Mapping[str, Any]:
        """What each instance is launched with; empty where that is not known."""
        template = (self.description or {}).get("LaunchTemplate")
        if template is None:
            return {}
        return self._ec2.launch_template_data(
            template["LaunchTemplateId"], template.get("Version", "$Default")
        )

    @property
    def market(self) -> str:
        """`on-demand`, `spot` or `capacity-block`."""
        return str(self.launch.get("InstanceMarketOptions", {}).get("MarketType", "on-demand"))

    @property
    def reservation_id(self) -> str | None:
        target = self.launch.get("CapacityReservationSpecification", {}).get(
            "CapacityReservationTarget", {}
        )
        found = target.get("CapacityReservationId")
        return None if found is None else str(found)

    @property
    def has_efa(self) -> bool:
        interfaces = self.launch.get("NetworkInterfaces", ())
        return any(each.get("InterfaceType", "").startswith("efa") for each in interfaces)
