"""Whether the job's instance type is to be had where the job would run."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from training.aws.ec2 import Ec2
from training.preflight.check import Check
from training.preflight.finding import Finding, Severity
from training.preflight.job.alternatives import Alternatives

KEY = "instances.type"


@dataclass(frozen=True)
class TypeIsOffered(Check):
    """EC2, whose machines SageMaker's are, has the type in the region and the job's zones.

    SageMaker itself reports a type that it does not sell as a quota that was exceeded:
    https://github.com/aws/amazon-sagemaker-examples/issues/1001
    """

    codes: ClassVar[Mapping[str, Severity]] = {
        "instance-type-not-in-region": "error",
        "instance-type-not-in-zones": "error",
        "instance-type-not-in-some-zones": "info",
    }
    actions: ClassVar[tuple[str, ...]] = (
        "ec2:DescribeInstanceTypeOfferings",
        "ec2:DescribeSubnets",
        "s3:GetObject",
    )

    ec2: Ec2
    instance_type: str
    subnet_ids: Sequence[str]
    region: str
    is_bound: bool = False
    """Whether the job runs in the zone of FSx for Lustre, whatever other subnets there are."""
    alternatives: Alternatives | None = None

    def find(self) -> Iterator[Finding]:
        name = self.instance_type.removeprefix("ml.")
        offering = self.ec2.zones_offering(name)
        if not offering:
            yield self.found(
                "instance-type-not-in-region",
                KEY,
                f"{self.instance_type} is not in {self.region}: no zone of it has the type. Choose "
                f"another type, or another region{self._others()}",
            )
            return
        subnets = self.ec2.subnets(self.subnet_ids)
        zones = {subnet["AvailabilityZone"] for subnet in subnets.values()}
        lacking = sorted(zones - offering)
        listed = f"{', '.join(lacking)}; it is in {', '.join(sorted(offering))}"
        if lacking and not zones & offering:
            yield self.found(
                "instance-type-not-in-zones",
                KEY,
                f"{self.instance_type} is in no zone of the job's subnets ({listed}). "
                f"{self._what_to_do()}{self._others()}",
            )
        elif lacking:
            yield self.found(
                "instance-type-not-in-some-zones",
                KEY,
                f"{self.instance_type} is not in {listed}: the job waits for capacity in fewer "
                "zones",
            )

    def _others(self) -> str:
        found = self.alternatives
        return found.said(without=self.instance_type) if found else ""

    def _what_to_do(self) -> str:
        if self.is_bound:
            return (
                "The job runs in the zone of FSx for Lustre: choose another type or data_source, "
                "or deploy StorageStack with a file system in such a zone (fsx_zone, the number of "
                "its subnet)"
            )
        return "Choose another type, or make subnets there"
