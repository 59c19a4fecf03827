"""The cluster's two auto-scaling groups, as AWS sees them."""

from __future__ import annotations

from dataclasses import dataclass

from .aws_cli import AwsError, aws
from .config import NodeConfig

_TIMEOUT_S = 8


@dataclass(frozen=True)
class GroupInstance:
    """An instance of one of the groups."""

    instance_id: str
    role: str
    """head or worker, by the group that it is in"""
    lifecycle: str
    """InService, Pending, Terminating, …"""
    health: str
    """Healthy or Unhealthy"""

    @property
    def is_usable(self) -> bool:
        return self.lifecycle == "InService" and self.health == "Healthy"


def instances(config: NodeConfig) -> dict[str, GroupInstance]:
    """Return the instances of both groups by their ids.

    Raises:
        AwsError: AWS cannot be asked, or knows neither group.
    """
    names = (config.head_group, config.worker_group)
    answer = aws(
        "autoscaling", "describe-auto-scaling-groups", "--auto-scaling-group-names", *names,
        region=config.region, timeout_s=_TIMEOUT_S,
    )  # fmt: skip
    try:
        found = [
            GroupInstance(
                instance_id=instance["InstanceId"],
                role="head" if group["AutoScalingGroupName"] == config.head_group else "worker",
                lifecycle=instance["LifecycleState"],
                health=instance["HealthStatus"],
            )
            for group in answer["AutoScalingGroups"]
            for instance in group.get("Instances", [])
        ]
        has_groups = bool(answer["AutoScalingGroups"])
    except (TypeError, KeyError) as error:
        raise AwsError(f"describe-auto-scaling-groups: answer not understood ({error})") from error
    if not has_groups:
        # Their names come from the stack, so this is a wrong region or a stack that is gone; that
        # nobody is in service would be the wrong thing to say of a job that runs.
        raise AwsError(f"no auto-scaling group {' or '.join(names)} in {config.region}")
    return {instance.instance_id: instance for instance in found}
