"""Whether the nodes of a job can come: their group, and their type in its zones."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import ClassVar

from training.aws.ec2 import Ec2
from training.preflight.check import Check
from training.preflight.finding import Finding, Severity
from training.preflight.job.alternatives import Alternatives
from training.preflight.job.eks.node_group import NodeGroup

KEY = "instances.count"


@dataclass(frozen=True)
class GroupTakesTheNodes(Check):
    """The GPU node group is there and well, has the job's type, and may grow to its nodes."""

    codes: ClassVar[Mapping[str, Severity]] = {
        "node-group-missing": "error",
        "node-group-not-active": "error",
        "node-group-too-small": "error",
        "node-group-other-type": "error",
        "node-group-unhealthy": "warning",
    }
    actions: ClassVar[tuple[str, ...]] = ("eks:DescribeNodegroup",)

    group: NodeGroup
    nodes: int
    told_most: int
    """What the stack's output says: of a job that takes more, that is told without asking AWS."""
    instance_type: str

    def find(self) -> Iterator[Finding]:
        found, name = self.group.description, self.group.name
        if found is None:
            yield self.found(
                "node-group-missing",
                name,
                f"the cluster has no node group {name}: it was deleted, or the outputs are old. "
                "Deploy it: cdk deploy KubernetesStack",
            )
            return
        if found["status"] not in {"ACTIVE", "UPDATING"}:
            yield self.found(
                "node-group-not-active",
                name,
                f"node group {name} is {found['status']}, and starts no nodes now",
            )
        if self.group.most < self.nodes <= self.told_most:
            yield self.found(
                "node-group-too-small",
                KEY,
                f"node group {name} has at most {self.group.most} nodes, and the job takes "
                f"{self.nodes}. Take fewer, or raise it: cdk deploy KubernetesStack -c "
                f"eks_max_nodes={self.nodes}",
            )
        types = self.group.types
        if types and self.instance_type not in types:
            yield self.found(
                "node-group-other-type",
                "instances.type",
                f"node group {name} starts {', '.join(types)}, and the job's pods ask for a node "
                f"of type {self.instance_type}: the stack was deployed with another type since. "
                "Read its outputs anew, or deploy it again: cdk deploy KubernetesStack",
            )
        for issue in self.group.issues:
            yield self.found(
                "node-group-unhealthy",
                name,
                f"node group {name} is not well, AWS says: {issue.get('code')}: "
                f"{issue.get('message')}",
            )


@dataclass(frozen=True)
class TypeIsInTheZones(Check):
    """EC2 has the GPU nodes' type in a zone of their group.

    What a zone does not offer does not come, however long the job waits.
    """

    codes: ClassVar[Mapping[str, Severity]] = {"instance-type-not-in-zone": "error"}
    actions: ClassVar[tuple[str, ...]] = ("ec2:DescribeInstanceTypeOfferings", "s3:GetObject")

    ec2: Ec2
    instance_type: str
    zones: tuple[str, ...]
    alternatives: Alternatives | None = None

    def find(self) -> Iterator[Finding]:
        offering = self.ec2.zones_offering(self.instance_type)
        if set(self.zones) & offering:
            return
        others = ", ".join(sorted(offering)) or "no zone of this region"
        found = self.alternatives
        told = found.said(without=self.instance_type, zones=self.zones) if found else ""
        yield self.found(
            "instance-type-not-in-zone",
            "instances.type",
            f"{self.instance_type}, the GPU nodes' type, is not in {', '.join(self.zones)}, where "
            f"their group is (it is in {others}). Deploy KubernetesStack with another "
            f"eks_gpu_instance_type or eks_zone{told}",
        )
