"""A group that brings itself to its desired size, and stays there.

moto puts all instances into the first subnet, ends any of them, lets a lost one be lost, and fails
the request where an instance cannot be had; AWS takes the request and tries again and again.
"""

from __future__ import annotations

import threading
import time
from typing import Any

from moto.autoscaling.exceptions import ValidationError
from moto.autoscaling.models import ASG_NAME_TAG, FakeAutoScalingGroup
from moto.core.exceptions import ServiceException

from localaws.autoscaling.activities import KEPT, Activity, at
from localaws.autoscaling.member import Member

RETRY_S = 5.0
"""Time between two tries to launch what could not be had. AWS's grows from seconds to minutes."""

_ENDED = ("terminated", "shutting-down", "stopped")

_settling = threading.RLock()
"""Two requests at once would both launch what is missing."""


class Group(FakeAutoScalingGroup):
    """An auto-scaling group."""

    instance_states: list[Any]

    def __init__(self, **arguments: Any) -> None:
        self.activities: list[Activity] = []
        self.failed_at = 0.0
        super().__init__(**arguments)

    # Sizes.

    def set_desired_capacity(self, new_capacity: int | None) -> None:
        self.desired_capacity = self.min_size if new_capacity is None else new_capacity
        # moto calls this while it makes the group, too: first it is to be found.
        if self.name in self.autoscaling_backend.autoscaling_groups:
            self.failed_at = 0.0
            self.settle(at(f"the desired capacity was set to {self.desired_capacity}"))

    def resize(self, least: int | None, most: int | None, desired: int | None) -> None:
        """Take up new sizes; AWS keeps the desired one between the two others.

        Raises:
            ValidationError: They contradict each other.
        """
        low = self.min_size if least is None else least
        high = self.max_size if most is None else most
        assert low is not None
        assert high is not None
        check_sizes(low, high, desired)
        self.min_size, self.max_size = low, high
        wanted = self.desired_capacity if desired is None else desired
        assert wanted is not None
        self.set_desired_capacity(min(max(wanted, low), high))

    # Members.

    def active_instances(self) -> list[Any]:
        return [each for each in self.instance_states if each.lifecycle_state == "InService"]

    def is_suspended(self, *processes: str) -> bool:
        return any(each["ProcessName"] in processes for each in self.suspended_processes)

    def settle(self, cause: str) -> None:
        """Launch what is missing, end what is too much."""
        with _settling:
            self._drop_lost()
            missing = (self.desired_capacity or 0) - len(self.active_instances())
            if missing > 0 and not self.is_suspended("Launch"):
                self._launch(missing, cause)
            elif missing < 0 and not self.is_suspended("Terminate"):
                for member in self._superfluous(-missing):
                    self.end(member, cause)

    def retry(self) -> None:
        """Try again to launch what could not be had, if it is time."""
        if self.failed_at and time.time() - self.failed_at >= RETRY_S:
            self.settle(at("the group was smaller than its desired capacity"))

    def _drop_lost(self) -> None:
        """Let go of instances that ended or are unhealthy; their places are filled."""
        if self.is_suspended("HealthCheck", "ReplaceUnhealthy"):
            return
        for member in list(self.instance_states):
            if member.lifecycle_state != "InService":
                continue
            if member.instance.state in _ENDED:
                cause = "an instance was taken out of service in response to an EC2 health check "
                self.end(member, at(f"{cause}indicating it has been terminated or stopped."))
            elif member.health_status == "Unhealthy":
                cause = "an instance was taken out of service in response to a user health-check."
                self.end(member, at(cause))

    def _launch(self, count: int, cause: str) -> None:
        for _ in range(count):
            try:
                member = self._launch_one()
            except ServiceException as error:
                self.failed_at = time.time()
                message = f"{error.message} Launching EC2 instance failed."
                what = f"Launching a new EC2 instance.  Status Reason: {message}"
                self._record(Activity(self, what, cause, "Failed", message))
                return
            self._record(
                Activity(self, f"Launching a new EC2 instance: {member.instance_id}", cause)
            )
        self.failed_at = 0.0

    def _launch_one(self) -> Member:
        template = self.ec2_launch_template
        version = template.get_version(self.launch_template_version) if template else None
        launched_by = (
            {"LaunchTemplateId": template.id, "Version": str(version.number)}
            if template and version
            else {}
        )
        tags = {**self.get_propagated_tags(), ASG_NAME_TAG: self.name, **self.instance_tags}
        reservation = self.ec2_backend.run_instances(
            self.image_id,
            1,
            self.user_data,
            [] if template else self.security_groups,
            instance_type=self.instance_type,
            is_instance_type_default=False,
            tags={"instance": tags},
            placement=self.availability_zones[0],
            launch_config=self.launch_config,
            launch_template=launched_by,
            placement_group=self.placement_group,
            subnet_id=self._next_subnet(),
        )
        (instance,) = reservation.instances
        instance.autoscaling_group = self  # type: ignore[attr-defined]
        member = Member(
            instance,
            str(version.number) if version else None,
            protected_from_scale_in=self.new_instances_protected_from_scale_in,
        )
        self.instance_states.append(member)
        return member

    def _next_subnet(self) -> str | None:
        """Return the subnet with the fewest members: AWS balances the zones."""
        if not self.vpc_zone_identifier:
            return None
        subnets = self.vpc_zone_identifier.split(",")
        used = [member.instance.subnet_id for member in self.active_instances()]
        return min(subnets, key=used.count)

    def _superfluous(self, count: int) -> list[Member]:
        """Return the members to end, as AWS's default termination policy finds them.

        https://docs.aws.amazon.com/autoscaling/ec2/userguide/ec2-auto-scaling-termination-policies.html
        """
        rest = [each for each in self.active_instances() if not each.protected_from_scale_in]
        chosen: list[Member] = []
        while rest and len(chosen) < count:
            zones = [each.availability_zone for each in rest]
            fullest = max(sorted(set(zones)), key=zones.count)
            oldest = min(
                (each for each in rest if each.availability_zone == fullest),
                key=lambda each: (int(each.version or 0), each.instance.launch_time),
            )
            rest.remove(oldest)
            chosen.append(oldest)
        return chosen

    def end(self, member: Member, cause: str) -> Activity:
        """End an instance of the group."""
        if member in self.instance_states:
            self.instance_states.remove(member)
        if member.instance.state != "terminated":
            self.ec2_backend.terminate_instances([member.instance_id])
        done = Activity(self, f"Terminating EC2 instance: {member.instance_id}", cause)
        self._record(done)
        return done

    def _record(self, activity: Activity) -> None:
        self.activities.insert(0, activity)
        del self.activities[KEPT:]


def check_sizes(least: int, most: int, desired: int | None) -> None:
    """Refuse sizes that contradict each other.

    Raises:
        ValidationError: They do.
    """
    if least > most:
        raise ValidationError(f"Max bound, {most}, must be greater than or equal to {least}")
    if desired is not None and not least <= desired <= most:
        raise ValidationError(
            f"Desired capacity:{desired} must be between the specified min size:{least} and max "
            f"size:{most}"
        )
