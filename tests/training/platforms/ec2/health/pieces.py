"""Nodes and checks to judge."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

from tests.training.platforms.ec2.planning import outputs
from training.outputs import ClusterOutputs
from training.platforms.ec2.health.aws_side import AwsNode, Role
from training.platforms.ec2.health.check import NodeCheck, ok

NOW = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
OLD = NOW - timedelta(hours=5)


def cluster(**changed: Any) -> ClusterOutputs:
    return outputs(**changed).read(ClusterOutputs)


def aws_node(
    name: str = "i-1",
    *checks: NodeCheck,
    role: Role = "worker",
    launched: datetime = OLD,
    is_let_go: bool = False,
) -> AwsNode:
    return AwsNode(
        instance_id=name,
        role=role,
        is_let_go=is_let_go,
        address="10.0.0.1",
        instance_type="p4d.24xlarge",
        zone="us-west-2b",
        launched=launched,
        efa_interfaces=4,
        checks=checks or (ok("group", "InService, Healthy"),),
    )


def host(name: str, *checks: dict[str, Any]) -> dict[str, Any]:
    """Return a node as the head's answer has it."""
    return {"instance_id": name, "address": "10.0.0.1", "role": "worker", "checks": list(checks)}


def said(name: str, status: str = "ok", message: str = "") -> dict[str, Any]:
    return {"name": name, "status": status, "value": None, "message": message}
