"""The availability zones that the subnets are to be in."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from training.aws.ec2 import Ec2
from training.preflight.check import Check
from training.preflight.finding import Finding, Severity
from training.preflight.stacks.planned_zones import PlannedZones, found_by_cloudformation


@dataclass(frozen=True)
class ZonesAreThere(Check):
    """The named zones exist and work, or the region has as many as are wanted."""

    codes: ClassVar[Mapping[str, Severity]] = {
        "zone-unknown": "error",
        "zone-unavailable": "error",
        "zones-too-few": "error",
        "zones-without-default-subnet": "error",
    }
    actions: ClassVar[tuple[str, ...]] = ("ec2:DescribeAvailabilityZones", "ec2:DescribeSubnets")

    ec2: Ec2
    region: str
    planned: PlannedZones
    names_key: str
    """The setting that names the zones."""
    count_key: str
    """The setting that says how many."""

    def find(self) -> Iterator[Finding]:
        if self.planned.names is not None:
            yield from self._judge_named(self.planned.names)
        else:
            yield from self._judge_number()

    def _judge_named(self, names: Sequence[str]) -> Iterator[Finding]:
        states = {zone["ZoneName"]: zone["State"] for zone in self.ec2.zones()}
        for name in names:
            if name not in states:
                yield self.found(
                    "zone-unknown",
                    self.names_key,
                    f"{self.names_key} names {name}, which this account does not have in "
                    f"{self.region}. It has {', '.join(states)}",
                )
            elif states[name] != "available":
                others = [zone for zone in states if states[zone] == "available"]
                yield self.found(
                    "zone-unavailable",
                    self.names_key,
                    f"{self.names_key} names {name}, which is {states[name]}. Wait, or take other "
                    f"zones: {', '.join(others)}",
                )

    def _judge_number(self) -> Iterator[Finding]:
        available = [zone["ZoneName"] for zone in self.ec2.zones() if zone["State"] == "available"]
        wanted = self.planned.count
        if len(available) < wanted:
            yield self.found(
                "zones-too-few",
                self.count_key,
                f"{wanted} zones are wanted ({self.count_key}), but {self.region} has "
                f"{len(available)} ({', '.join(available)}). Set {self.count_key} to "
                f"{len(available)} or less, or choose another region",
            )
            return
        found = found_by_cloudformation(self.ec2)
        if len(found) < wanted:
            yield self.found(
                "zones-without-default-subnet",
                self.names_key,
                f"{wanted} zones are wanted, but CloudFormation finds only {', '.join(found)}: "
                "where an account has default subnets, it takes zones that have one. Name the "
                f"zones: {self.names_key}={','.join(available[:wanted])}",
            )
