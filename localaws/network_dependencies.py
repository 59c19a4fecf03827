"""What EC2 does not delete while something is in it or refers to it: subnets, groups, VPCs.

moto deletes a subnet with whatever is in it. Everything that lives in a subnet has a network
interface there, as in AWS: mount targets, FSx, notebooks, endpoints, NAT gateways.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from moto.ec2.exceptions import DependencyViolationError
from moto.ec2.models.nat_gateways import NatGateway
from moto.ec2.models.subnets import Subnet
from moto.ec2.models.vpcs import VPC

from localaws.security_group_rules import RuleBackend


class DependencyBackend(RuleBackend):
    """EC2's state in one region."""

    def delete_subnet(self, subnet_id: str) -> Subnet:
        if any(interface.subnet.id == subnet_id for interface in self.enis.values()):
            raise DependencyViolationError(
                f"The subnet '{subnet_id}' has dependencies and cannot be deleted."
            )
        return super().delete_subnet(subnet_id)

    def _delete_security_group(self, vpc_id: str | None, group_id: str) -> None:
        if any(self._users_of(group_id)):
            raise DependencyViolationError(f"resource {group_id} has a dependent object")
        super()._delete_security_group(vpc_id, group_id)

    def _users_of(self, group_id: str) -> Iterator[Any]:
        """Yield what refers to a group: members, and rules of other groups."""
        for interface in self.enis.values():
            if any(group.id == group_id for group in interface.group_set):
                yield interface
        for groups in self.groups.values():
            for other in groups.values():
                for rule in [*other.ingress_rules, *other.egress_rules]:
                    if other.id != group_id and _names(rule, group_id):
                        yield rule

    def delete_vpc(self, vpc_id: str) -> VPC:
        if any(group.name != "default" for group in self.groups.get(vpc_id, {}).values()):
            raise DependencyViolationError(
                f"The vpc '{vpc_id}' has dependencies and cannot be deleted."
            )
        return super().delete_vpc(vpc_id)

    def delete_nat_gateway(self, nat_gateway_id: str) -> NatGateway:
        deleted = super().delete_nat_gateway(nat_gateway_id)
        # moto would leave it in the subnet.
        self.enis.pop(deleted._eni.id, None)
        return deleted


def _names(rule: Any, group_id: str) -> bool:
    return bool((rule.source_group or {}).get("GroupId") == group_id)
