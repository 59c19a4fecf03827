"""The group that a job's GPU nodes come from, as AWS has it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

from training.aws.autoscaling import AutoScaling
from training.aws.eks import Eks

ACTIONS = ("autoscaling:DescribeAutoScalingGroups", "eks:DescribeNodegroup")

_MARKETS = {"SPOT": "spot", "CAPACITY_BLOCK": "capacity-block"}
"""By CapacityType: https://docs.aws.amazon.com/eks/latest/APIReference/API_Nodegroup.html"""


class NodeGroup:
    """Asked once for all checks; what of it is not there, the checks say."""

    def __init__(self, eks: Eks, autoscaling: AutoScaling, cluster: str, name: str) -> None:
        self._eks = eks
        self._autoscaling = autoscaling
        self._cluster = cluster
        self.name = name

    @cached_property
    def description(self) -> Mapping[str, Any] | None:
        """The group; None where the cluster has none of that name."""
        return self._eks.node_group(self._cluster, self.name)

    @property
    def most(self) -> int:
        return int((self.description or {}).get("scalingConfig", {}).get("maxSize", 0))

    @property
    def types(self) -> Sequence[str]:
        """The instance types that it starts; empty where its launch template says it."""
        return (self.description or {}).get("instanceTypes") or ()

    @property
    def issues(self) -> Sequence[Mapping[str, Any]]:
        """What keeps AWS from giving it nodes, each with `code` and `message`."""
        return (self.description or {}).get("health", {}).get("issues") or ()

    @cached_property
    def instances(self) -> int:
        """How many it has, or is about to have."""
        resources = (self.description or {}).get("resources", {})
        names = [each["name"] for each in resources.get("autoScalingGroups") or ()]
        groups = self._autoscaling.groups(names) if names else {}
        return sum(len(group.get("Instances", ())) for group in groups.values())

    @property
    def market(self) -> str:
        """`on-demand`, `spot` or `capacity-block`."""
        return _MARKETS.get(str((self.description or {}).get("capacityType")), "on-demand")
