"""A group of nodes: how many there are, and how they are replaced."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from aws_cdk import (
    CfnAutoScalingRollingUpdate,
    CfnAutoScalingScheduledAction,
    CfnCreationPolicy,
    CfnResourceSignal,
    CfnUpdatePolicy,
)
from aws_cdk import aws_autoscaling as autoscaling
from aws_cdk import aws_ec2 as ec2
from constructs import Construct

from stacks.constructs.node_launch import NodeLaunch, launch_template

SPARE_MINUTES = 3
"""For the boot before the set-up, and the way of its signal."""

BOOT_S = 300
"""In which EC2's own checks of a new node do not count yet."""

_PAUSED = [
    "HealthCheck",
    "ReplaceUnhealthy",
    "AZRebalance",
    "AlarmNotification",
    "ScheduledActions",
]
"""Processes of Auto Scaling that would count or end nodes in the middle of a rolling update.

https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/aws-attribute-updatepolicy.html
"""

_LARGEST_BATCH = 100
"""Nodes that CloudFormation replaces at a time, at most; the same page."""


@dataclass(frozen=True, kw_only=True)
class GroupSize:
    """How many nodes a group has."""

    least: int
    wanted: int
    most: int

    @property
    def batch(self) -> int:
        """How many are replaced at a time: a quarter, so that an elastic job goes on meanwhile."""
        return min(_LARGEST_BATCH, max(1, self.most // 4))


class NodeGroup(Construct):
    """An auto-scaling group of nodes that are alike.

    L1, since its user data names the group: the L2 is made after its launch template.

    A deploy leaves the number of nodes alone that the conductor chose, unless the settings change
    it (IgnoreUnmodifiedGroupSizeProperties). It replaces the nodes where anything changes that they
    are launched with, in batches: old ones end first, since nobody has GPUs to spare, and a batch
    has to tell that it is ready before the next. A job goes on without the batch if it is elastic,
    and else from its checkpoint.

    Attributes:
        name: As given, so that it can be told before the group is there.
    """

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        name: str,
        size: GroupSize,
        subnet: ec2.ISubnet,
        launch: NodeLaunch,
        user_data: Callable[[str], str],
        setup_minutes: int,
    ) -> None:
        """Build it.

        Args:
            name: In the account and region.
            size: How many nodes.
            subnet: Where all of them are.
            launch: What each is launched with.
            user_data: Returns it for a group of the given logical id.
            setup_minutes: How long a node may take to become ready.
        """
        super().__init__(scope, construct_id)
        self.name = name
        waiting = f"PT{setup_minutes + SPARE_MINUTES}M"
        group = autoscaling.CfnAutoScalingGroup(
            self,
            "Group",
            auto_scaling_group_name=name,
            min_size=str(size.least),
            max_size=str(size.most),
            desired_capacity=str(size.wanted),
            vpc_zone_identifier=[subnet.subnet_id],
            health_check_type="EC2",
            health_check_grace_period=BOOT_S,
            # A spot node that is about to go is replaced before it goes.
            capacity_rebalance=launch.market == "spot",
            termination_policies=["OldestLaunchTemplate", "Default"],
        )
        template = launch_template(
            self, "Launch", launch=launch, user_data=user_data(group.logical_id)
        )
        group.launch_template = autoscaling.CfnAutoScalingGroup.LaunchTemplateSpecificationProperty(
            launch_template_id=template.ref, version=template.attr_latest_version_number
        )
        if size.wanted:
            group.cfn_options.creation_policy = CfnCreationPolicy(
                resource_signal=CfnResourceSignal(count=size.wanted, timeout=waiting)
            )
        group.cfn_options.update_policy = CfnUpdatePolicy(
            auto_scaling_rolling_update=CfnAutoScalingRollingUpdate(
                min_instances_in_service=0,
                max_batch_size=size.batch,
                pause_time=waiting,
                wait_on_resource_signals=True,
                suspend_processes=_PAUSED,
            ),
            auto_scaling_scheduled_action=CfnAutoScalingScheduledAction(
                ignore_unmodified_group_size_properties=True
            ),
        )
