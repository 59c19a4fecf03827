"""Replaces a node: the job there leaves it, its instance is ended, its group starts another."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from training.aws.clients import Clients
from training.errors import UsageError
from training.platforms.ec2.answer import HeadAway
from training.platforms.ec2.head import Head
from training.platforms.ec2.health.node import Node
from training.platforms.ec2.health.report import Health, node_of


def choose(health: Health, named: Sequence[str]) -> list[Node]:
    """Return the nodes to be replaced: those named, or those whose verdict is that.

    Workers come first: while the head is there, it lets the job go on.

    Raises:
        UsageError: A name is no node's.
    """
    if not named:
        chosen = health.to_replace
    else:
        found = {name: node_of(health, name) for name in dict.fromkeys(named)}
        unknown = [name for name, node in found.items() if node is None]
        if unknown:
            there = ", ".join(node.aws.instance_id for node in health.nodes) or "none"
            raise UsageError(
                f"--node {unknown[0]}: is no node of cluster {health.cluster} (there are: {there})"
            )
        chosen = [node for node in found.values() if node is not None]
    return sorted(
        (node for node in chosen if not node.aws.is_let_go),
        key=lambda node: node.aws.role == "head",
    )


def warnings(health: Health, node: Node) -> list[str]:
    """Return what the user should know before a node is replaced."""
    said = []
    if node.aws.role == "head":
        said.append(
            "without its head node nobody can ask the cluster for some minutes, and a job that "
            "runs goes on from its last checkpoint on the new one"
        )
    if health.job is not None:
        said.append(f"job {health.job.get('name')} is {health.job.get('state')}")
    return said


def replace(clients: Clients, head: Head, node: Node, tell: Callable[[str], None]) -> None:
    """Replace one node.

    Raises:
        ClusterRefused: A job would lose what it has done; nothing was changed.
        HeadAway: Nobody can tell whether one would, and the node is no head.
        AwsError: AWS refused.
    """
    instance_id = node.aws.instance_id
    try:
        answer = head.ask("replace", {"instance_id": instance_id})
    except HeadAway:
        # A head that is away conducts nothing; its job waits for the next one in any case.
        if node.aws.role != "head":
            raise
    else:
        if answer.get("job"):
            tell(f"{instance_id}: {answer['job']}")
    clients.autoscaling.replace(instance_id)
    tell(f"{instance_id}: its group ends it and starts another {node.aws.role}")
