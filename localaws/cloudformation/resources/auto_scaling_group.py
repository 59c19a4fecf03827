"""AWS::AutoScaling::AutoScalingGroup."""

from __future__ import annotations

from typing import Any, Self

from localaws.cloudformation import tags
from localaws.cloudformation.aws import Aws
from localaws.cloudformation.policies import (
    CreationPolicy,
    Operation,
    PolicyFailed,
    RollingUpdate,
    judge,
    keeps_sizes,
    seconds,
)
from localaws.cloudformation.resource import (
    CannotUpdate,
    Properties,
    ResourceWithPolicies,
    changed,
)
from localaws.cloudformation.resources.rolling import Roll, ids_of, members_of

_SIZES = {"MinSize", "MaxSize", "DesiredCapacity"}
_NUMBERS = _SIZES | {"HealthCheckGracePeriod", "DefaultCooldown"}
_SETTINGS = (
    *sorted(_SIZES),
    "LaunchTemplate",
    "AvailabilityZones",
    "CapacityRebalance",
    "HealthCheckGracePeriod",
    "HealthCheckType",
    "NewInstancesProtectedFromScaleIn",
    "PlacementGroup",
    "TerminationPolicies",
)


class AutoScalingGroup(ResourceWithPolicies):
    """A group of instances that keeps its size."""

    TYPE = "AWS::AutoScaling::AutoScalingGroup"
    NAME_PROPERTY = "AutoScalingGroupName"
    STACK_TAG = {"PropagateAtLaunch": True}  # noqa: RUF012

    @classmethod
    def create(cls, aws: Aws, name: str, properties: Properties) -> Self:
        if others := properties.keys() - {*_SETTINGS, *_OTHERS}:
            raise CannotUpdate(", ".join(sorted(others)))
        groups = aws.client("autoscaling")
        request = _request(properties)
        groups.create_auto_scaling_group(
            AutoScalingGroupName=name, **request, Tags=_tags(name, properties.get("Tags", []))
        )
        made = cls(name)
        group = made._shown(aws)
        assert group
        made.attributes["AutoScalingGroupARN"] = group["AutoScalingGroupARN"]
        return made

    def created(
        self, aws: Aws, properties: Properties, policy: Properties, operation: Operation
    ) -> None:
        signals = CreationPolicy.of(policy)
        if signals:
            outcome = operation.wait(signals.count, seconds(signals.timeout), None)
            judge(outcome, signals.count, signals.percent)
        self._check_size(aws)

    def _check_size(self, aws: Aws) -> None:
        """Refuse a group that could not launch what it wants.

        Raises:
            PolicyFailed: With the reason of its last try.
        """
        group = self._shown(aws)
        assert group
        there, wanted = len(members_of(group)), group["DesiredCapacity"]
        if there >= wanted:
            return
        activities = aws.client("autoscaling").describe_scaling_activities(
            AutoScalingGroupName=self.physical_resource_id
        )["Activities"]
        failed = (each for each in activities if each["StatusCode"] == "Failed")
        reason = next((each["StatusMessage"] for each in failed), "no activity failed")
        raise PolicyFailed(
            f"Group did not stabilize. {there} of {wanted} instances are in service. The last "
            f"scaling activity: {reason}"
        )

    def change(
        self,
        aws: Aws,
        old: Properties,
        new: Properties,
        policy: Properties,
        operation: Operation,
    ) -> None:
        differs = set(changed(old, new))
        known = {*_SETTINGS, "VPCZoneIdentifier", "Cooldown", "Tags"}
        if others := differs - known:
            raise CannotUpdate(", ".join(sorted(others)))
        groups, name = aws.client("autoscaling"), self.physical_resource_id
        before = self._shown(aws)
        assert before
        rolling = RollingUpdate.of(policy)
        roll = Roll(aws, name, rolling, operation) if rolling else None
        if roll:
            roll.begin()
        try:
            left_alone = _SIZES - differs if keeps_sizes(policy) else set()
            request = {key: value for key, value in new.items() if key not in left_alone}
            groups.update_auto_scaling_group(AutoScalingGroupName=name, **_request(request))
            self._set_tags(aws, old, new)
            added = ids_of(self._shown(aws)) - ids_of(before)
            if roll and added:
                roll.await_new(added)
            if roll:
                roll.replace(new)
            self._check_size(aws)
        finally:
            if roll:
                roll.end()

    def _set_tags(self, aws: Aws, old: Properties, new: Properties) -> None:
        groups, name = aws.client("autoscaling"), self.physical_resource_id
        gone, wanted = tags.difference(old, new)
        if gone:
            kept = {"ResourceId": name, "ResourceType": "auto-scaling-group"}
            groups.delete_tags(Tags=[{**kept, "Key": key} for key in gone])
        if wanted:
            groups.create_or_update_tags(Tags=_tags(name, wanted))

    def _shown(self, aws: Aws) -> dict[str, Any] | None:
        found = aws.client("autoscaling").describe_auto_scaling_groups(
            AutoScalingGroupNames=[self.physical_resource_id]
        )["AutoScalingGroups"]
        return found[0] if found else None

    def read(self, aws: Aws) -> Properties | None:
        group = self._shown(aws)
        if group is None:
            return None
        template = group.get("LaunchTemplate", {})
        zones = group.get("VPCZoneIdentifier", "")
        return {
            "AutoScalingGroupName": group["AutoScalingGroupName"],
            **{size: str(group[size]) for size in _SIZES},
            "LaunchTemplate": template,
            "VPCZoneIdentifier": zones.split(",") if zones else [],
            "HealthCheckType": group["HealthCheckType"],
            "HealthCheckGracePeriod": group["HealthCheckGracePeriod"],
            "CapacityRebalance": group.get("CapacityRebalance"),
            "TerminationPolicies": group["TerminationPolicies"],
            "NewInstancesProtectedFromScaleIn": group["NewInstancesProtectedFromScaleIn"],
            "Tags": [
                {key: tag[key] for key in ("Key", "Value", "PropagateAtLaunch")}
                for tag in group["Tags"]
            ],
        }

    def delete(self, aws: Aws) -> None:
        if self._shown(aws):
            aws.client("autoscaling").delete_auto_scaling_group(
                AutoScalingGroupName=self.physical_resource_id, ForceDelete=True
            )


_OTHERS = ("AutoScalingGroupName", "VPCZoneIdentifier", "Cooldown", "Tags")


def _request(properties: Properties) -> dict[str, Any]:
    """Return the settings as Auto Scaling takes them: CloudFormation has some numbers as text."""
    given = {name: properties[name] for name in _SETTINGS if name in properties}
    if "Cooldown" in properties:
        given["DefaultCooldown"] = properties["Cooldown"]
    if "VPCZoneIdentifier" in properties:
        given["VPCZoneIdentifier"] = ",".join(properties["VPCZoneIdentifier"])
    return {name: int(value) if name in _NUMBERS else value for name, value in given.items()}


def _tags(name: str, given: list[dict[str, Any]]) -> list[dict[str, Any]]:
    kept = {"ResourceId": name, "ResourceType": "auto-scaling-group"}
    return [{**kept, **tag} for tag in given]
