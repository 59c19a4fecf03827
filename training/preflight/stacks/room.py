"""Free addresses in subnets that exist already."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import ClassVar

from training.addresses import AddressNeed
from training.aws.cloudformation import CloudFormation
from training.aws.ec2 import Ec2
from training.outputs import StorageOutputs
from training.preflight.check import Check
from training.preflight.finding import Finding, Severity

KEY = "private_subnets"


@dataclass(frozen=True)
class SubnetsHaveRoom(Check):
    """The planned cluster, file systems, endpoints and notebook find free addresses."""

    codes: ClassVar[Mapping[str, Severity]] = {"subnet-full": "error"}
    actions: ClassVar[tuple[str, ...]] = ("cloudformation:DescribeStacks", "ec2:DescribeSubnets")

    ec2: Ec2
    cloudformation: CloudFormation
    needs: Mapping[str, AddressNeed]
    """Id of each private subnet to what is to be in it, without the cluster and without what AWS
    reserves, which it does not call free."""
    cluster: int
    """Addresses of the planned instances, all in one subnet."""
    cluster_subnet_id: str | None
    """That of FSx for Lustre; None where any will do."""

    def find(self) -> Iterator[Finding]:
        there = self.ec2.subnets(self.needs)
        free = {name: found["AvailableIpAddressCount"] for name, found in there.items()}
        needs = self._still_to_come()
        for_cluster = self.cluster_subnet_id or _roomiest(free, needs)
        for subnet_id, need in needs.items():
            if subnet_id == for_cluster:
                need = replace(need, instances=self.cluster)  # noqa: PLW2901
            # One that is not there is another check's finding.
            if need.total > free.get(subnet_id, need.total):
                yield self._full(subnet_id, free[subnet_id], need)

    def _still_to_come(self) -> Mapping[str, AddressNeed]:
        """Return the needs; nothing where an earlier deploy has taken the addresses already."""
        is_deployed = self.cloudformation.outputs(StorageOutputs.STACK)
        return dict.fromkeys(self.needs, NOTHING) if is_deployed else self.needs

    def _full(self, subnet_id: str, free: int, need: AddressNeed) -> Finding:
        advice = ", or plan fewer instances (planned_instance_count)" if need.instances else ""
        return self.found(
            "subnet-full",
            KEY,
            f"{KEY}: {subnet_id} has {free} free addresses, and {need.total} are needed ({need}). "
            f"Free some, or name a larger subnet{advice}",
        )


NOTHING = AddressNeed(
    instances=0, lustre=0, mount_target=0, interface_endpoints=0, notebook=0, reserved=0
)


def _roomiest(free: Mapping[str, int], needs: Mapping[str, AddressNeed]) -> str | None:
    return max(free, key=lambda name: free[name] - needs[name].total, default=None)
