"""Which zones the private subnets will be in."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from training.aws.ec2 import Ec2


@dataclass(frozen=True)
class PlannedZones:
    """Zones by name, or only how many, which CloudFormation then finds with Fn::GetAZs."""

    names: Sequence[str] | None
    count: int

    def resolve(self, ec2: Ec2) -> list[str]:
        """Return the names; fewer than `count` where there are no more."""
        if self.names is not None:
            return list(self.names)
        return found_by_cloudformation(ec2)[: self.count]


def found_by_cloudformation(ec2: Ec2) -> list[str]:
    """Return the zones that Fn::GetAZs gives.

    Where the account has default subnets, it gives the zones of those alone.
    https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/intrinsic-function-reference-getavailabilityzones.html
    """
    names = [zone["ZoneName"] for zone in ec2.zones() if zone["State"] == "available"]
    with_default = ec2.zones_with_default_subnet()
    return [name for name in names if name in with_default] if with_default else names
