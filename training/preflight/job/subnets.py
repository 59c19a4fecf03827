"""The subnets of the job."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from training.aws.ec2 import Ec2
from training.preflight.check import Check
from training.preflight.finding import Finding, Severity

KEY = "instances.count"


@dataclass(frozen=True)
class SubnetsHaveAddresses(Check):
    """A subnet is there that has a free address for every network interface of the job.

    All instances of a job are in one zone, and so in one subnet (training/addresses.py).
    """

    codes: ClassVar[Mapping[str, Severity]] = {
        "subnet-missing": "error",
        "subnets-full": "error",
        "subnet-full": "warning",
    }
    actions: ClassVar[tuple[str, ...]] = ("ec2:DescribeSubnets",)

    ec2: Ec2
    subnet_ids: Sequence[str]
    instances: int
    addresses_each: int
    """Of one instance."""

    def find(self) -> Iterator[Finding]:
        there = self.ec2.subnets(self.subnet_ids)
        for subnet_id in self.subnet_ids:
            if subnet_id not in there:
                yield self.found(
                    "subnet-missing",
                    subnet_id,
                    f"there is no subnet {subnet_id} in this account and region; deploy "
                    "NetworkStack again, or read its outputs anew (leave --outputs-file out)",
                )
        need = self.instances * self.addresses_each
        free = {name: int(found["AvailableIpAddressCount"]) for name, found in there.items()}
        full = {name: count for name, count in free.items() if count < need}
        if not full:
            return
        listed = ", ".join(f"{name} has {count}" for name, count in sorted(full.items()))
        what = (
            f"{self.instances} instances take {need} private addresses of one subnet "
            f"({self.addresses_each} each); free are fewer: {listed}"
        )
        if len(full) == len(free):
            yield self.found(
                "subnets-full",
                KEY,
                f"{what}. Take fewer instances, free some addresses, or make larger subnets",
            )
        else:
            yield self.found(
                "subnet-full",
                KEY,
                f"{what}. SageMaker chooses among the job's subnets, and may choose such a one",
            )
