"""Auto Scaling's operations, where moto's differ or are missing."""

from __future__ import annotations

from typing import cast

from moto.autoscaling.responses import AutoScalingResponse
from moto.core.responses import ActionResult, EmptyResult

from localaws.autoscaling.backend import GroupBackend

MOST_ACTIVITIES = 100
"""On one page."""


class GroupResponse(AutoScalingResponse):
    """Auto Scaling's operations."""

    @property
    def _groups(self) -> GroupBackend:
        return cast(GroupBackend, self.autoscaling_backend)

    def describe_scaling_activities(self) -> ActionResult:
        name, ids = self._get_param("AutoScalingGroupName"), self._get_param("ActivityIds", [])
        begin = int(self._get_param("NextToken") or 0)
        most = min(self._get_int_param("MaxRecords", MOST_ACTIVITIES), MOST_ACTIVITIES)
        found = self._groups.activities(name, ids)
        end = begin + most
        token = str(end) if len(found) > end else None
        return ActionResult({"Activities": found[begin:end], "NextToken": token})

    def update_auto_scaling_group(self) -> ActionResult:
        """Change a group; moto leaves out four of its settings."""
        self._groups.update_auto_scaling_group(
            name=self._get_param("AutoScalingGroupName"),
            availability_zones=self._get_param("AvailabilityZones", []),
            desired_capacity=self._get_int_param("DesiredCapacity"),
            max_size=self._get_int_param("MaxSize"),
            min_size=self._get_int_param("MinSize"),
            launch_config_name=self._get_param("LaunchConfigurationName"),
            launch_template=self._get_param("LaunchTemplate", {}),
            vpc_zone_identifier=self._get_param("VPCZoneIdentifier"),
            health_check_period=self._get_int_param("HealthCheckGracePeriod"),
            health_check_type=self._get_param("HealthCheckType"),
            new_instances_protected_from_scale_in=self._get_bool_param(
                "NewInstancesProtectedFromScaleIn", None
            ),
            mixed_instances_policy=self._get_param("MixedInstancesPolicy"),
            default_cooldown=self._get_int_param("DefaultCooldown"),
            placement_group=self._get_param("PlacementGroup"),
            termination_policies=self._get_param("TerminationPolicies"),
            capacity_rebalance=self._get_bool_param("CapacityRebalance", None),
        )
        return EmptyResult()

    def delete_auto_scaling_group(self) -> ActionResult:
        self._groups.delete_auto_scaling_group(
            self._get_param("AutoScalingGroupName"), self._get_bool_param("ForceDelete", False)
        )
        return EmptyResult()
