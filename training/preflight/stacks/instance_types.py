"""The instance type that the cluster is planned with."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import ClassVar

from training.aws.ec2 import Ec2
from training.preflight.check import Check
from training.preflight.finding import Finding, Severity
from training.preflight.stacks.planned_zones import PlannedZones


@dataclass(frozen=True)
class InstanceTypeIsOffered(Check):
    """EC2 has the type in the zones of the subnets, and where FSx for Lustre will be."""

    codes: ClassVar[Mapping[str, Severity]] = {
        "instance-type-not-in-region": "error",
        "instance-type-not-in-zones": "error",
        "instance-type-not-in-fsx-zone": "error",
        "instance-type-not-in-some-zones": "warning",
    }
    actions: ClassVar[tuple[str, ...]] = (
        "ec2:DescribeAvailabilityZones",
        "ec2:DescribeInstanceTypeOfferings",
        "ec2:DescribeSubnets",
    )

    ec2: Ec2
    region: str
    instance_type: str
    """With or without SageMaker's `ml.`, whose machines are EC2's."""
    type_key: str
    planned: PlannedZones
    zones_key: str
    fsx_zone: int | None
    """Number of the private subnet that holds FSx for Lustre, from 1; None without one."""

    def find(self) -> Iterator[Finding]:
        name = self.instance_type.removeprefix("ml.")
        offering = self.ec2.zones_offering(name)
        if not offering:
            yield self.found(
                "instance-type-not-in-region",
                self.type_key,
                f"{self.type_key} is {self.instance_type}, which EC2 does not have in "
                f"{self.region}. Choose another type, or another region",
            )
            return
        zones = self.planned.resolve(self.ec2)
        lacking = [zone for zone in zones if zone not in offering]
        advice = (
            f"{name} is offered in {', '.join(sorted(offering))}: set {self.zones_key} so that "
            "these are among them, or choose another type"
        )
        if lacking and len(lacking) == len(zones):
            yield self.found(
                "instance-type-not-in-zones",
                self.type_key,
                f"no zone of the private subnets ({', '.join(zones)}) has {name}. {advice}",
            )
            return
        fsx_zone = self._zone_of_fsx(zones)
        if fsx_zone in lacking:
            yield self.found(
                "instance-type-not-in-fsx-zone",
                "fsx_zone",
                f"FSx for Lustre is to be in {fsx_zone} (fsx_zone = {self.fsx_zone}), where there "
                f"is no {name}, and jobs that read it run in its zone. Set fsx_zone to "
                f"{_numbers_of(zones, lacking)}; {advice}",
            )
        elif lacking:
            yield self.found(
                "instance-type-not-in-some-zones",
                self.type_key,
                f"{name} is not offered in {', '.join(lacking)}: a cluster can only be in the "
                f"other zones. {advice}",
            )

    def _zone_of_fsx(self, zones: list[str]) -> str | None:
        if self.fsx_zone is None or self.fsx_zone > len(zones):
            return None
        return zones[self.fsx_zone - 1]


def _numbers_of(zones: list[str], lacking: list[str]) -> str:
    """Return the numbers of the zones that will do, as the setting takes them."""
    numbers = [str(number) for number, zone in enumerate(zones, 1) if zone not in lacking]
    return " or ".join(numbers)
