"""The names of the cluster's auto-scaling groups."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from training.aws.autoscaling import AutoScaling
from training.preflight.check import Check
from training.preflight.finding import Finding, Severity
from training.preflight.stacks.own import OwnResources


@dataclass(frozen=True)
class GroupNamesAreFree(Check):
    """No other auto-scaling group has the names of the cluster's."""

    codes: ClassVar[Mapping[str, Severity]] = {"cluster-name-taken": "error"}
    actions: ClassVar[tuple[str, ...]] = (
        "autoscaling:DescribeAutoScalingGroups",
        "cloudformation:ListStackResources",
    )

    autoscaling: AutoScaling
    region: str
    names: Sequence[str]
    own: OwnResources

    def find(self) -> Iterator[Finding]:
        groups = list(self.autoscaling.groups(self.names).values())
        taken = self.own.others(groups, "AutoScalingGroupName") if groups else []
        if taken:
            names = ", ".join(sorted(each["AutoScalingGroupName"] for each in taken))
            yield self.found(
                "cluster-name-taken",
                "cluster_name",
                f"{self.region} has auto-scaling groups named {names}, which ClusterStack did not "
                "make. Set cluster_name to another name, or delete them",
            )
