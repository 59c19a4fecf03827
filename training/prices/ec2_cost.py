"""What a job on a cluster of EC2 instances costs, worked out from its nodes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path

from training.platforms.api import Cost
from training.prices.cost import AFTER_THE_LIMIT, HOUR_S, cents_up
from training.prices.price_list import EC2_ON_DEMAND, MAX_AGE_DAYS
from training.prices.table import Price, Unknown, find_price, refresh_command

_LEFT_OUT = (
    f"left out: EBS of each node, S3, EFS or FSx, NAT and data transfer, logs, {AFTER_THE_LIMIT}, "
    "taxes, discounts"
)


@dataclass(frozen=True, kw_only=True)
class Nodes:
    """Instances of one type."""

    what: str
    """`worker` or `head`."""
    type: str
    count: int


def ec2_cost(
    nodes: Sequence[Nodes],
    *,
    max_run_s: int,
    wait_s: int,
    retries: int,
    is_spot: bool,
    keep_workers: bool,
    region: str,
    today: date,
    cache: Path,
) -> Cost:
    """Return what a job costs; unknown is None, never 0.

    The maximum is the price on demand of all nodes, for as long as the job may wait for its
    workers, at first and before each retry, and run. What the head costs while no job runs is the
    cluster's, and not in it.

    Args:
        nodes: The job's.
        max_run_s: The limit of all attempts together.
        wait_s: How long it waits for workers at a time; some may be there already.
        retries: How often it starts again after a failure of its own.
        is_spot: Whether the workers are spot instances.
        keep_workers: Whether they stay when the job has ended.
        region: Where the nodes are.
        today: Tells how old the prices are.
        cache: Where fetched prices are (`training.prices.cache.price_cache`).
    """
    found = [(each, find_price(EC2_ON_DEMAND, region, each.type, cache=cache)) for each in nodes]
    known = [(each, price) for each, price in found if isinstance(price, Price)]
    said = [_said(each, price) for each, price in known]
    said += [
        f"{price.why}; the job takes {each.count:,} of it ({each.what})"
        for each, price in found
        if isinstance(price, Unknown)
    ]
    waits = f"{1 + retries} times {wait_s:,} s" if retries else f"{wait_s:,} s"
    said.append(
        f"at most {waits} of waiting for workers and {max_run_s:,} s of the job; a node that AWS "
        "takes away may add another wait; the head is paid for between jobs, too, until the stack "
        "is destroyed"
    )
    if is_spot:
        said.append("the workers are spot instances: less, by how much is known only afterwards")
    if keep_workers:
        said.append("ec2.keep_workers: the workers stay, and are paid for, without a limit")
    is_whole = len(known) == len(found)
    per_hour = sum(price.usd_per_hour * each.count for each, price in known)
    maximum = cents_up(per_hour * ((1 + retries) * wait_s + max_run_s) / HOUR_S)
    age = max((price.of.age_days(today) for _, price in known), default=None)
    if age is not None and age > MAX_AGE_DAYS:
        said.append(f"that price is {age} days old: {refresh_command(region)} fetches today's")
    return Cost(
        per_hour=round(per_hour, 6) if is_whole else None,
        # What leaves something out is no maximum.
        maximum=maximum if is_whole and not keep_workers else None,
        assumptions=(*said, _LEFT_OUT),
        price_age_days=age if is_whole else None,
        price_region=region if is_whole else None,
    )


def _said(nodes: Nodes, price: Price) -> str:
    return (
        f"{nodes.count:,} {nodes.type} ({nodes.what}) at {price.usd_per_hour:.10g} USD an hour "
        f"each, on demand in {price.of.region}, AWS's list price of {price.of.as_of}"
    )
