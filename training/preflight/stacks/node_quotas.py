"""Whether the account may run the cluster's nodes at once."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from training.aws.ec2 import Ec2
from training.aws.service_quotas import ServiceQuotas
from training.preflight.check import Check
from training.preflight.finding import Finding, Severity
from training.preflight.quota_request import request_more
from training.preflight.stacks.node import PlannedNode
from training.preflight.stacks.quota import Quota
from training.preflight.stacks.vcpu_quotas import quota_of, vcpus_used


@dataclass(frozen=True)
class NodeQuotasSuffice(Check):
    """The vCPU quotas suffice for the most nodes of a cluster, beside what runs already.

    Nodes in reserved capacity are left out: a reservation is counted whether it is used or not, and
    a Capacity Block is not counted.
    https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/capacity-reservation-limits.html
    """

    codes: ClassVar[Mapping[str, Severity]] = {
        "cluster-quota-too-small": "error",
        "cluster-quota-in-use": "error",
        "cluster-quota-below-most-workers": "warning",
    }
    actions: ClassVar[tuple[str, ...]] = (
        "ec2:DescribeInstanceTypes",
        "ec2:DescribeInstances",
        "servicequotas:GetAWSDefaultServiceQuota",
        "servicequotas:GetServiceQuota",
    )

    ec2: Ec2
    service_quotas: ServiceQuotas
    region: str
    nodes: Sequence[PlannedNode]
    own_groups: Collection[str]
    """Names of the cluster's groups: what runs in them now is not beside them."""

    def find(self) -> Iterator[Finding]:
        by_quota: dict[Quota, list[PlannedNode]] = {}
        for node in self.nodes:
            quota = quota_of(node.instance_type, is_spot=node.is_spot)
            if quota:
                by_quota.setdefault(quota, []).append(node)
        vcpus = self.ec2.vcpus([node.instance_type for node in self.nodes])
        for quota, nodes in by_quota.items():
            limit = self.service_quotas.limit(quota.service, quota.code)
            if limit is not None:
                yield from self._judge(quota, limit, nodes, vcpus)

    def _judge(
        self, quota: Quota, limit: float, nodes: Sequence[PlannedNode], vcpus: Mapping[str, int]
    ) -> Iterator[Finding]:
        sizes = {node: _vcpus_of(node, vcpus) for node in nodes}
        first = sum(node.first * size for node, size in sizes.items())
        most = sum(node.most * size for node, size in sizes.items())
        largest = max(nodes, key=lambda node: node.most * sizes[node])
        key = largest.key
        wants = " + ".join(
            f"{node.most} of {node.instance_type} with {size} vCPUs each"
            for node, size in sizes.items()
        )

        def more(wanted: int) -> str:
            command = request_more(
                service=quota.service, code=quota.code, wanted=wanted, region=self.region
            )
            return f"Ask for more: {command}"

        if first > limit:
            yield self.found(
                "cluster-quota-too-small",
                key,
                f"{quota.name}: {limit:g} vCPUs are allowed in {self.region}, and the deploy alone "
                f"starts {first}. {more(most)}, or take fewer or smaller nodes",
            )
            return
        is_asked = bool(first) or most <= limit
        used = vcpus_used(self.ec2, quota, without_groups=self.own_groups) if is_asked else 0
        if first and used + first > limit:
            yield self.found(
                "cluster-quota-in-use",
                key,
                f"{quota.name}: {limit:g} vCPUs are allowed in {self.region}, others use {used}, "
                f"and the deploy starts {first} more. End some of them. "
                f"{more(used + most)}",
            )
        elif used + most > limit:
            beside = f", others use {used}," if used else ""
            yield self.found(
                "cluster-quota-below-most-workers",
                key,
                f"{quota.name}: {limit:g} vCPUs are allowed in {self.region}{beside} and the "
                f"cluster takes {most} at most ({wants}): jobs that want them all will wait in "
                f"vain. {more(used + most)}, or set {largest.most_key} lower",
            )


def _vcpus_of(node: PlannedNode, vcpus: Mapping[str, int]) -> int:
    if node.instance_type in vcpus:
        return vcpus[node.instance_type]
    # EC2 does not list it in this region; that is another check's finding.
    return node.gpu_instance.vcpus if node.gpu_instance else 0
