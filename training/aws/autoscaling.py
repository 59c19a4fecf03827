"""Auto-scaling groups: their instances, and why they have none."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from training.aws.request import ask, ask_all

Description = dict[str, Any]
"""Of one thing, in AWS's spelling."""

LATEST_ACTIVITIES = 20
"""As many as are asked for: the API keeps six weeks of them, newest first.

https://docs.aws.amazon.com/autoscaling/ec2/APIReference/API_DescribeScalingActivities.html
"""


class AutoScaling:
    """Amazon EC2 Auto Scaling."""

    def __init__(self, client: Any) -> None:
        self._client = client

    def groups(self, names: Iterable[str]) -> dict[str, Description]:
        """Return those groups that are there, by name; each lists its instances."""
        found = ask_all(
            self._client,
            "describe_auto_scaling_groups",
            "AutoScalingGroups",
            AutoScalingGroupNames=list(names),
        )
        return {group["AutoScalingGroupName"]: group for group in found}

    def activities(self, group_name: str) -> list[Description]:
        """Return what a group did last, newest first: each with StatusCode and StatusMessage."""
        answer = ask(
            self._client,
            "describe_scaling_activities",
            AutoScalingGroupName=group_name,
            MaxRecords=LATEST_ACTIVITIES,
        )
        return list(answer["Activities"])

    def replace(self, instance_id: str) -> None:
        """End an instance; its group starts another in its place."""
        ask(
            self._client,
            "terminate_instance_in_auto_scaling_group",
            InstanceId=instance_id,
            ShouldDecrementDesiredCapacity=False,
        )
