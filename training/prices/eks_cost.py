"""What a job on the EKS cluster costs, worked out from its nodes and the cluster's own."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Self

from training.outputs import KubernetesOutputs
from training.platforms.api import Cost
from training.prices.cost import AFTER_THE_LIMIT, HOUR_S, cents_up
from training.prices.price_list import EC2_ON_DEMAND, MAX_AGE_DAYS
from training.prices.table import Price, Unknown, find_price, refresh_command

CONTROL_PLANE_USD_PER_HOUR = 0.10
"""Of a cluster whose Kubernetes version is in standard support, the same in every region of the
partition `aws`, since 2024-04-01 (in extended support it is 0.60):
https://aws.amazon.com/blogs/containers/amazon-eks-extended-support-for-kubernetes-versions-pricing/
and https://aws.amazon.com/eks/pricing/"""

NODES_LEAVE_S = 1200
"""How long GPU nodes may stay after a job: their pods' grace, and the ten minutes that the cluster
autoscaler sees a node idle before it ends it (twice, where the node has just come):
https://github.com/kubernetes/autoscaler/blob/master/cluster-autoscaler/FAQ.md"""

SYSTEM_NODES_AT_MOST = 2
"""Times as many as stay: the autoscaler may add as many again, as KubernetesStack lets it."""


@dataclass(frozen=True, kw_only=True)
class Cluster:
    """What a price depends on."""

    partition: str
    gpu_type: str
    is_spot: bool
    system_type: str
    system_nodes: int
    volume_gib: int
    """Of each GPU node."""

    @classmethod
    def of(cls, outputs: KubernetesOutputs) -> Self:
        """Read the stack's outputs.

        Raises:
            UsageError: A number is none.
        """
        return cls(
            partition=outputs.arn("cluster_arn").partition,
            gpu_type=outputs.gpu_instance_type,
            is_spot=outputs.spot == "true",
            system_type=outputs.system_instance_type,
            system_nodes=outputs.number("system_nodes"),
            volume_gib=outputs.number("gpu_volume_gib"),
        )


def eks_cost(
    cluster: Cluster,
    *,
    gpu_nodes: int,
    max_run_s: int,
    wait_s: int,
    retries: int,
    region: str,
    today: date,
    cache: Path,
) -> Cost:
    """Return what a job costs; unknown is None, never 0.

    The maximum is the price on demand of the job's nodes, of the system nodes and of the control
    plane, for as long as the job may wait and run in all, and its nodes stay afterwards. What the
    cluster costs while no job runs is not in it.

    Args:
        cluster: Where it runs.
        gpu_nodes: The job's.
        max_run_s: The limit of all attempts together.
        wait_s: How long it waits for its nodes; both together are the MPIJob's deadline.
        retries: How often it starts again after a failure; within the same deadline.
        region: Where the nodes are.
        today: Tells how old the prices are.
        cache: Where fetched prices are (`training.prices.cache.price_cache`).
    """
    nodes = (
        ("GPU node", cluster.gpu_type, gpu_nodes, gpu_nodes),
        (
            "system node",
            cluster.system_type,
            cluster.system_nodes,
            SYSTEM_NODES_AT_MOST * cluster.system_nodes,
        ),
    )
    found = [(*each, _price(region, each[1], cache)) for each in nodes]
    per_hour, at_most, said, is_whole = 0.0, 0.0, [], True
    for what, kind, count, most, price in found:
        if isinstance(price, Unknown):
            is_whole = False
            said.append(f"{price.why}; the job takes {count:,} of it ({what})")
            continue
        per_hour += price.usd_per_hour * count
        at_most += price.usd_per_hour * most
        said.append(
            f"{count:,} {kind} ({what}) at {price.usd_per_hour:.10g} USD an hour each, on demand "
            f"in {price.of.region}, AWS's list price of {price.of.as_of}"
        )
    if cluster.partition == "aws":
        per_hour += CONTROL_PLANE_USD_PER_HOUR
        at_most += CONTROL_PLANE_USD_PER_HOUR
        said.append(
            f"the control plane at {CONTROL_PLANE_USD_PER_HOUR:.2f} USD an hour, in standard "
            "support (aws.amazon.com/eks/pricing)"
        )
    else:
        is_whole = False
        said.append(f"what the control plane costs in {region} is not known here")
    again = f", {retries} retries included" if retries else ""
    said.append(
        f"at most {wait_s:,} s of waiting for nodes and {max_run_s:,} s of the job{again}, and "
        f"{NODES_LEAVE_S:,} s until its nodes are gone, all that with twice the system nodes, "
        "which the autoscaler may add; system nodes and control plane are paid for between jobs, "
        "too, until the stack is destroyed"
    )
    if cluster.is_spot:
        said.append("GPU nodes are spot instances: less, by how much is known only afterwards")
    ages = [price.of.age_days(today) for *_, price in found if isinstance(price, Price)]
    age = max(ages, default=None)
    if age is not None and age > MAX_AGE_DAYS:
        said.append(f"that price is {age} days old: {refresh_command(region)} fetches today's")
    seconds = wait_s + max_run_s + NODES_LEAVE_S
    return Cost(
        per_hour=round(per_hour, 6) if is_whole else None,
        # What leaves something out is no maximum.
        maximum=cents_up(at_most * seconds / HOUR_S) if is_whole else None,
        assumptions=(*said, _left_out(cluster)),
        price_age_days=age if is_whole else None,
        price_region=region if is_whole else None,
    )


def _price(region: str, instance_type: str, cache: Path) -> Price | Unknown:
    return find_price(EC2_ON_DEMAND, region, instance_type, cache=cache)


def _left_out(cluster: Cluster) -> str:
    return (
        f"left out: EBS of each node ({cluster.volume_gib:,} GiB of a GPU node), S3, EFS or FSx, "
        f"NAT and data transfer, load balancers, logs, {AFTER_THE_LIMIT}, taxes, discounts"
    )
