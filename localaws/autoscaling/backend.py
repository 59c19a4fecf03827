"""Auto Scaling's state in one region."""

from __future__ import annotations

from types import ModuleType
from typing import Any, cast

from moto.autoscaling import urls
from moto.autoscaling.exceptions import AutoscalingClientError, ValidationError
from moto.autoscaling.models import AutoScalingBackend, FakeAutoScalingGroup
from moto.core.exceptions import ServiceException

from localaws.autoscaling.activities import Activity, at
from localaws.autoscaling.group import Group, check_sizes
from localaws.autoscaling.member import Member
from localaws.ec2.instances import InstanceBackend


class GroupBackend(AutoScalingBackend):
    """The auto-scaling groups of one region."""

    @property
    def _url_module(self) -> ModuleType:
        return urls

    def _group(self, name: str) -> Group:
        if name not in self.autoscaling_groups:
            raise ValidationError(f"AutoScalingGroup name not found - {name} does not exist")
        return cast(Group, self.autoscaling_groups[name])

    def _member(self, instance_id: str) -> Member:
        for group in self.autoscaling_groups.values():
            for member in group.instance_states:
                if member.instance_id == instance_id:
                    return cast(Member, member)
        raise ValidationError(
            f"Instance Id not found - No managed instance found for {instance_id}"
        )

    def create_auto_scaling_group(  # type: ignore[override]
        self, name: str, **request: Any
    ) -> FakeAutoScalingGroup:
        if name in self.autoscaling_groups:
            raise AutoscalingClientError(
                "AlreadyExists",
                "AutoScalingGroup by this name already exists - A group with the name "
                f"{name} already exists",
            )
        if template := request.get("launch_template"):
            self._check_template(template)
        check_sizes(request["min_size"], request["max_size"], request["desired_capacity"])
        made = cast(Group, super().create_auto_scaling_group(name, **request))
        made.set_desired_capacity(request["desired_capacity"])
        return made

    def _check_template(self, template: dict[str, Any]) -> None:
        """Refuse a template of which no instance could ever be made, as AWS does at once.

        Raises:
            ValidationError: Why.
        """
        try:
            ec2 = cast(InstanceBackend, self.ec2_backend)
            data = ec2._get_template_from_args(template).data
            ec2.check_names(data.get("ImageId", ""), data.get("KeyName"))
        except ServiceException as error:
            raise ValidationError(
                f"You must use a valid fully-formed launch template. {error.message}"
            ) from error
        except IndexError as error:
            raise ValidationError(
                "You must use a valid fully-formed launch template. The specified launch template "
                f"does not exist: {template}"
            ) from error

    def update_auto_scaling_group(  # type: ignore[override]
        self, name: str, **request: Any
    ) -> FakeAutoScalingGroup:
        group = self._group(name)
        if template := request.get("launch_template"):
            self._check_template(template)
        least, most = request.pop("min_size", None), request.pop("max_size", None)
        desired = request.pop("desired_capacity", None)
        for setting in ("default_cooldown", "placement_group", "termination_policies"):
            if (value := request.pop(setting, None)) is not None:
                setattr(group, setting, value)
        if (rebalance := request.pop("capacity_rebalance", None)) is not None:
            group.capacity_rebalance = rebalance
        kept = group.mixed_instances_policy
        request["mixed_instances_policy"] = request.get("mixed_instances_policy") or kept
        super().update_auto_scaling_group(
            name, desired_capacity=None, min_size=None, max_size=None, **request
        )
        group.resize(least, most, desired)
        return group

    def describe_auto_scaling_groups(
        self, names: list[str], filters: list[dict[str, str]] | None = None
    ) -> list[FakeAutoScalingGroup]:
        found = super().describe_auto_scaling_groups(names, filters)
        for group in found:
            cast(Group, group).retry()
        return found

    def set_desired_capacity(self, group_name: str, desired_capacity: int | None) -> None:
        group = self._group(group_name)
        least, most = group.min_size or 0, group.max_size or 0
        if desired_capacity is not None and desired_capacity > most:
            raise ValidationError(
                f"New SetDesiredCapacity value {desired_capacity} is above max value {most} for "
                "the AutoScalingGroup."
            )
        if desired_capacity is not None and desired_capacity < least:
            raise ValidationError(
                f"New SetDesiredCapacity value {desired_capacity} is below min value {least} for "
                "the AutoScalingGroup."
            )
        super().set_desired_capacity(group_name, desired_capacity)

    def delete_auto_scaling_group(self, group_name: str, force: bool = False) -> None:
        group = self._group(group_name)
        if group.instance_states and not force:
            raise AutoscalingClientError(
                "ResourceInUse",
                "You cannot delete an AutoScalingGroup while there are instances or pending Spot "
                "instance request(s) still in the group.",
            )
        for member in list(group.instance_states):
            group.end(member, at("the group was deleted"))
        del self.autoscaling_groups[group_name]

    def set_instance_health(self, instance_id: str, health_status: str) -> None:
        member = self._member(instance_id)
        member.health_status = health_status
        member.auto_scaling_group.settle(at("an instance was set to Unhealthy"))

    def terminate_instance(self, instance_id: str, should_decrement: bool) -> Activity:  # type: ignore[override]
        member = self._member(instance_id)
        group = cast(Group, member.auto_scaling_group)
        if should_decrement:
            size = (group.desired_capacity or 0) - 1
            if size < (group.min_size or 0):
                raise ValidationError(
                    "Currently, desiredSize equals minSize. Terminating instance without "
                    "replacement will violate group's min size constraint. Either set "
                    "shouldDecrementDesiredCapacity flag to false or lower group's min size."
                )
            group.desired_capacity = size
        cause = at(f"instance {instance_id} was taken out of service in response to a user request")
        done = group.end(member, cause)
        group.settle(at("the group was smaller than its desired capacity"))
        return done

    def notify_terminate_instances(self, instance_ids: list[str]) -> None:
        for group in list(self.autoscaling_groups.values()):
            if any(each.instance_id in instance_ids for each in group.instance_states):
                cast(Group, group).settle(at("the group was smaller than its desired capacity"))

    def resume_processes(self, group_name: str, scaling_processes: list[str]) -> None:
        super().resume_processes(group_name, scaling_processes)
        self._group(group_name).settle(at("a process of the group was resumed"))

    def activities(self, group_name: str | None, ids: list[str]) -> list[Activity]:
        """Return what was done, newest first; of one group, or of all."""
        groups = [self._group(group_name)] if group_name else self.autoscaling_groups.values()
        found = [each for group in groups for each in cast(Group, group).activities]
        wanted = [each for each in found if not ids or each.activity_id in ids]
        return sorted(wanted, key=lambda each: each.start_time, reverse=True)
