"""Whether what the stacks make fits into the account's quotas."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import ClassVar

from training.aws.service_quotas import ServiceQuotas
from training.preflight.check import Check
from training.preflight.finding import Finding, Severity
from training.preflight.quota_request import request_more


@dataclass(frozen=True)
class Quota:
    """A limit of the account in a region."""

    service: str
    code: str
    name: str
    """As the Service Quotas console shows it."""


VPCS = Quota("vpc", "L-F678F1CE", "VPCs per Region")
INTERNET_GATEWAYS = Quota("vpc", "L-A4707A72", "Internet gateways per Region")
ELASTIC_IPS = Quota("ec2", "L-0263D0A3", "EC2-VPC Elastic IPs")
NAT_GATEWAYS = Quota("vpc", "L-FE5A380F", "NAT gateways per Availability Zone")
INTERFACE_ENDPOINTS = Quota("vpc", "L-29B6F2EB", "Interface VPC endpoints per VPC")
LUSTRE_CAPACITY = {
    "PERSISTENT_1": Quota("fsx", "L-C8640C82", "Lustre Persistent_1 storage capacity"),
    "PERSISTENT_2": Quota("fsx", "L-8F1B9C74", "Lustre Persistent_2 storage capacity"),
    "SCRATCH_2": Quota("fsx", "L-AD2FC696", "Lustre Scratch storage capacity"),
}
"""In GiB, by deployment type; the last is shared with SCRATCH_1.

https://docs.aws.amazon.com/general/latest/gr/fsxn.html, https://docs.aws.amazon.com/vpc/latest/userguide/amazon-vpc-limits.html
"""


@dataclass(frozen=True)
class QuotaSuffices(Check):
    """What is there and what is to be made stay within one quota."""

    codes: ClassVar[Mapping[str, Severity]] = {"quota-too-small": "error"}
    actions: ClassVar[tuple[str, ...]] = (
        "cloudformation:ListStackResources",
        "ec2:DescribeAddresses",
        "ec2:DescribeInternetGateways",
        "ec2:DescribeNatGateways",
        "ec2:DescribeVpcEndpoints",
        "ec2:DescribeVpcs",
        "fsx:DescribeFileSystems",
        "servicequotas:GetAWSDefaultServiceQuota",
        "servicequotas:GetServiceQuota",
    )

    service_quotas: ServiceQuotas
    region: str
    quota: Quota
    wanted: float
    count_used: Callable[[], float]
    """Asks how much is used, without what these stacks have made already."""
    key: str
    alternative: str
    """What else the user can do, than ask for more."""

    @property
    def subject(self) -> str:
        return f"The quota of {self.quota.name} suffices"

    def find(self) -> Iterator[Finding]:
        limit = self.service_quotas.limit(self.quota.service, self.quota.code)
        if limit is None:
            return
        used = self.count_used()
        if used + self.wanted > limit:
            yield self.found(
                "quota-too-small",
                self.key,
                f"{self.quota.name}: {limit:g} are allowed in {self.region}, {used:g} are used and "
                f"{self.wanted:g} more are needed. {self.alternative}, or ask for more: "
                f"{self._request(used + self.wanted)}",
            )

    def _request(self, wanted: float) -> str:
        return request_more(
            service=self.quota.service, code=self.quota.code, wanted=wanted, region=self.region
        )
