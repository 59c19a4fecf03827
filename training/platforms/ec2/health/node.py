"""A node as all that is known of it, and the verdict."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Literal

from training.platforms.ec2.health.aws_side import AwsNode
from training.platforms.ec2.health.check import NodeCheck

Verdict = Literal["ok", "watch", "replace"]

STARTING = timedelta(hours=1)
"""A node that is younger may still be in its set-up, as long as `cluster_setup_minutes` can be."""

NODES_OWN = frozenset(
    {
        *("instance", "system-status", "instance-status", "event", "registered", "ssh", "probe"),
        *("ssm-lost", "clock", "gpus", "ecc", "xid", "efa", "runtime"),
    }
)
"""Checks whose failure another machine mends."""

SHARED = frozenset({"efs", "fsx"})
"""Checks whose failure on every node is the server's, and on one the node's."""


@dataclass(frozen=True)
class Node:
    """Of the cluster."""

    aws: AwsNode
    checks: tuple[NodeCheck, ...]
    """AWS's, and its own."""
    verdict: Verdict
    reasons: tuple[str, ...]
    """Why it is not `ok`: what failed first."""

    @property
    def has_failed(self) -> bool:
        return any(check.status == "failed" for check in self.checks)

    def to_json(self) -> dict[str, Any]:
        return {
            "instance_id": self.aws.instance_id,
            "role": self.aws.role,
            "address": self.aws.address,
            "instance_type": self.aws.instance_type,
            "zone": self.aws.zone,
            "launched": self.aws.launched and self.aws.launched.isoformat(),
            "verdict": self.verdict,
            "reasons": list(self.reasons),
            "checks": [check.to_json() for check in self.checks],
        }


def judge_all(
    nodes: Iterable[AwsNode], told: Mapping[str, Sequence[NodeCheck]], *, now: datetime
) -> list[Node]:
    """Return each node with its verdict.

    Args:
        nodes: As AWS has them.
        told: What the nodes say, by instance id.
    """
    listed = list(nodes)
    everywhere = _failed_everywhere([told.get(each.instance_id, ()) for each in listed])
    return [_judge(each, told.get(each.instance_id, ()), everywhere, now) for each in listed]


def _failed_everywhere(told: Sequence[Sequence[NodeCheck]]) -> frozenset[str]:
    """Return which checks of something shared fail on every node that was looked at."""
    looked = [
        {check.name: check.status for check in checks}
        for checks in told
        if any(check.name in SHARED for check in checks)
    ]
    if len(looked) < 2:
        return frozenset()
    return frozenset(
        name for name in SHARED if all(found.get(name) == "failed" for found in looked)
    )


def _judge(
    node: AwsNode, told: Sequence[NodeCheck], everywhere: frozenset[str], now: datetime
) -> Node:
    checks = (*node.checks, *told)
    failures = [check for check in checks if check.status == "failed"]
    warnings = [check for check in checks if check.status == "warning"]
    reasons = tuple(f"{check.name}: {check.message}" for check in (*failures, *warnings))
    if not reasons:
        return Node(node, checks, "ok", ())
    if node.is_let_go:
        return Node(node, checks, "watch", reasons)
    if failures and _is_starting(node, told, now):
        return Node(node, checks, "watch", (f"it has just started: {reasons[0]}", *reasons[1:]))
    own = [
        check
        for check in failures
        if check.name in NODES_OWN or (check.name in SHARED and check.name not in everywhere)
    ]
    return Node(node, checks, "replace" if own else "watch", reasons)


def _is_starting(node: AwsNode, told: Sequence[NodeCheck], now: datetime) -> bool:
    """Return whether a node may still be in its set-up: one that was registered is through."""
    is_young = node.launched is not None and now - node.launched < STARTING
    return is_young and not any(check.name == "ssh" for check in told)
