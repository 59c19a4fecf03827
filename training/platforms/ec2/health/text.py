"""The health of a cluster for people."""

from __future__ import annotations

from collections.abc import Iterator

from training.columns import in_columns
from training.platforms.ec2.health.node import Node
from training.platforms.ec2.health.report import Health

_HEAD = ("NODE", "ROLE", "ADDRESS", "TYPE", "VERDICT", "CHECKS")


def lines_of(health: Health) -> Iterator[str]:
    """Yield a table of the nodes, and then all that is not well."""
    yield from in_columns([_HEAD, *map(_cells, health.nodes)])
    for node in health.nodes:
        for reason in node.reasons:
            yield f"{node.aws.instance_id}: {reason}"
    for missing in health.missing:
        yield f"missing: {missing.message}"
    if health.head is not None:
        yield f"head: {health.head}"
    yield from _all_reduce(health)
    if health.left_out:
        yield f"left out, for want of room in the head's answer: {health.left_out}"


def _cells(node: Node) -> tuple[str, ...]:
    well = sum(check.status == "ok" for check in node.checks)
    aws = node.aws
    return (
        aws.instance_id,
        aws.role,
        aws.address or "-",
        aws.instance_type or "-",
        node.verdict,
        f"{well} of {len(node.checks)} ok",
    )


def _all_reduce(health: Health) -> Iterator[str]:
    found = health.all_reduce
    if found is None:
        return
    if found.get("status") != "ok":
        yield f"all-reduce {found.get('status')}: {found.get('message')}"
        return
    yield (
        f"all-reduce ok: {found['bytes'] / 1e6:,.0f} MB over {found['ranks']} processes on "
        f"{found['hosts']} host(s), {found['backend']}: {found['seconds'] * 1000:,.1f} ms, bus "
        f"bandwidth {found['bus_gb_per_s']:g} GB/s"
    )
