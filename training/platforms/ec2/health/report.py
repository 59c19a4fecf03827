"""How a cluster is: asks AWS and the head node, and puts together what they say."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from training.aws.clients import Clients
from training.outputs import ClusterOutputs
from training.platforms.ec2.answer import ClusterRefused, HeadAway
from training.platforms.ec2.head import Head
from training.platforms.ec2.health import head_side
from training.platforms.ec2.health.aws_side import Missing, look
from training.platforms.ec2.health.head_side import HeadSide
from training.platforms.ec2.health.node import Node, judge_all

AROUND_S = 60.0
"""What Systems Manager takes beyond the head's own work."""


@dataclass(frozen=True, kw_only=True)
class Health:
    """Of a cluster."""

    cluster: str
    nodes: tuple[Node, ...]
    missing: tuple[Missing, ...]
    all_reduce: Mapping[str, Any] | None
    job: Mapping[str, Any] | None
    head: str | None
    """Why the head node said nothing; None where it did."""
    left_out: str | None

    @property
    def has_failed(self) -> bool:
        """Whether something is not as it must be."""
        reduced = self.all_reduce is not None and self.all_reduce.get("status") == "failed"
        bad = any(node.has_failed for node in self.nodes)
        return bad or reduced or bool(self.missing) or self.head is not None

    @property
    def to_replace(self) -> list[Node]:
        return [node for node in self.nodes if node.verdict == "replace"]

    def to_json(self) -> dict[str, Any]:
        return {
            "cluster": self.cluster,
            "status": "failed" if self.has_failed else "ok",
            "nodes": [node.to_json() for node in self.nodes],
            "missing": [each.to_json() for each in self.missing],
            "all_reduce": self.all_reduce,
            "job": self.job,
            "head": self.head,
            "left_out": self.left_out,
        }


def find_health(
    clients: Clients,
    head: Head,
    cluster: ClusterOutputs,
    *,
    all_reduce: bool,
    image: str | None,
    timeout_s: float,
    now: datetime,
) -> Health:
    """Look at everything; that the head node is away is part of the answer.

    Args:
        all_reduce: Let all nodes add up some numbers, and measure how fast they are.
        image: What that runs in, where jobs run in images.
        timeout_s: For the head's part.

    Raises:
        AwsError: AWS refuses, or cannot be reached.
    """
    seen = look(clients, cluster)
    asked = head_side.request(
        cluster, seen.nodes, all_reduce=all_reduce, image=image, timeout_s=timeout_s
    )
    silence: str | None = None
    said = HeadSide({}, None, None)
    if any(node.role == "head" for node in seen.nodes):
        try:
            said = head_side.read(head.ask("health", asked, timeout_s=timeout_s + AROUND_S))
        except (HeadAway, ClusterRefused) as error:
            silence = str(error)
    else:
        silence = "there is no head node"
    return Health(
        cluster=cluster.cluster_name,
        nodes=tuple(judge_all(seen.nodes, said.checks, now=now)),
        missing=seen.missing,
        all_reduce=said.all_reduce,
        job=said.job,
        head=silence,
        left_out=said.left_out,
    )


def node_of(health: Health, instance_id: str) -> Node | None:
    return next((each for each in health.nodes if each.aws.instance_id == instance_id), None)
