"""EC2's quotas: virtual processors of running instances, by family."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import ClassVar, Protocol

from training.aws.ec2 import Ec2
from training.aws.service_quotas import ServiceQuotas
from training.preflight.check import Check
from training.preflight.finding import Finding, Severity
from training.preflight.job.ec2.worker_group import ACTIONS
from training.preflight.quota_request import request_more
from training.preflight.stacks.quota import Quota
from training.preflight.stacks.vcpu_quotas import quota_of, vcpus_used

KEY = "instances.count"


class Group(Protocol):
    """What the workers come from."""

    @property
    def instances(self) -> int:
        """How many it has, or is about to have."""

    @property
    def market(self) -> str:
        """`on-demand`, `spot` or `capacity-block`."""


@dataclass(frozen=True)
class VcpuQuotaSuffices(Check):
    """The quota of virtual processors suffices for the workers that are still to start.

    Reserved capacity counts against it as other on-demand instances do; a capacity block does not.
    https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/capacity-reservations-using.html
    """

    codes: ClassVar[Mapping[str, Severity]] = {
        "quota-too-small": "error",
        "quota-in-use": "warning",
        "quota-unknown": "warning",
    }
    actions: ClassVar[tuple[str, ...]] = (
        *ACTIONS,
        "ec2:DescribeInstanceTypes",
        "ec2:DescribeInstances",
        "servicequotas:GetAWSDefaultServiceQuota",
        "servicequotas:GetServiceQuota",
    )

    service_quotas: ServiceQuotas
    ec2: Ec2
    group: Group
    region: str
    instance_type: str
    workers: int

    def find(self) -> Iterator[Finding]:
        missing = self.workers - self.group.instances
        if missing <= 0 or self.group.market == "capacity-block":
            return
        quota = quota_of(self.instance_type, is_spot=self.group.market == "spot")
        limit = self.service_quotas.limit(quota.service, quota.code) if quota else None
        each = self.ec2.vcpus([self.instance_type]).get(self.instance_type)
        if quota is None or limit is None or each is None:
            yield self.found(
                "quota-unknown",
                KEY,
                f"how many {self.instance_type} the account may run in {self.region} is not known. "
                "Look in the Service Quotas console (Amazon EC2)",
            )
            return
        whole = f'quota "{quota.name}" is {limit:g} vCPUs in {self.region}'
        if self.workers * each > limit:
            yield self.found(
                "quota-too-small",
                KEY,
                f"{whole}, and {self.workers} x {self.instance_type} are {self.workers * each} "
                f"({each} each). {self._ask_for(quota, self.workers * each)}, or take fewer "
                "workers",
            )
            return
        used = vcpus_used(self.ec2, quota)
        if used + missing * each > limit:
            yield self.found(
                "quota-in-use",
                KEY,
                f"{whole}, of which running instances use {used}: {missing} more x "
                f"{self.instance_type} are {missing * each}, and do not come until others have "
                f"ended. {self._ask_for(quota, used + missing * each)}",
            )

    def _ask_for(self, quota: Quota, vcpus: int) -> str:
        command = request_more(
            service=quota.service, code=quota.code, wanted=vcpus, region=self.region
        )
        return f"Ask for more: {command}"
