"""An AWS in this process, as the checks of the stacks have it, with groups of nodes in it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.training.preflight.stacks.conftest import (
    Network,
    aws,
    clients,
    network,
    session,
    stub,
    stubbed_clients,
)
from training.aws.clients import Clients
from training.preflight.job.ec2.worker_group import WorkerGroup

__all__ = ["aws", "clients", "network", "session", "stub", "stubbed_clients"]

NAME = "cluster-workers"

MakeGroup = Callable[..., WorkerGroup]


@pytest.fixture
def make_group(aws: Clients, network: Network) -> MakeGroup:
    """Make an auto-scaling group of p4d in us-east-1a; more is what its launch template has."""

    def make(size: int = 0, *, most: int = 4, name: str = NAME, **launch: Any) -> WorkerGroup:
        template = aws.boto("ec2").create_launch_template(
            LaunchTemplateName=f"{name}-launch",
            LaunchTemplateData={
                "ImageId": "ami-12c6146b",
                "InstanceType": "p4d.24xlarge",
                **launch,
            },
        )["LaunchTemplate"]
        aws.boto("autoscaling").create_auto_scaling_group(
            AutoScalingGroupName=name,
            LaunchTemplate={"LaunchTemplateId": template["LaunchTemplateId"], "Version": "1"},
            **{"MinSize": 0, "MaxSize": most, "DesiredCapacity": size},
            VPCZoneIdentifier=network.subnet_ids[0],
        )
        return WorkerGroup(aws.autoscaling, aws.ec2, name)

    return make
