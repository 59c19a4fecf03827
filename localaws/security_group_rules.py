"""Security group rules that keep their descriptions.

moto keeps that of a rule for addresses only, and takes two rules for one peer that differ in their
description for two; EC2 refuses the second.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from moto.ec2.models import EC2Backend
from moto.ec2.models.security_groups import SecurityGroupRule

Peer = dict[str, Any]
"""One end of a rule: addresses, a group or a prefix list, and the rule's description."""

_ADDRESS_KEYS = ("CidrIp", "CidrIpv6", "GroupId", "PrefixListId")


class DescribedRule(SecurityGroupRule):
    """A rule for one peer."""

    def __init__(self, backend: EC2Backend, kind: str, peer: Peer, **arguments: Any) -> None:
        super().__init__(backend, **{"ip_range": None, **arguments, kind: peer})
        self.peer = peer

    @property
    def description(self) -> str | None:
        return self.peer.get("Description")

    def describe(self, text: str | None) -> None:
        self.peer.pop("Description", None)
        if text:
            self.peer["Description"] = text

    def __eq__(self, other: object) -> bool:
        return isinstance(other, SecurityGroupRule) and _identity(self) == _identity(other)

    __hash__ = None  # type: ignore[assignment]


def _identity(rule: SecurityGroupRule) -> tuple[Any, ...]:
    """Return what tells one rule of a group from another."""
    peer = {**rule.ip_range, **rule.source_group, "PrefixListId": rule.prefix_list_id}
    address = tuple(peer.get(key) for key in _ADDRESS_KEYS)
    return (rule.ip_protocol, rule.from_port, rule.to_port, *address)


class RuleBackend(EC2Backend):
    """EC2's state in one region."""

    def _iterate_security_rules(
        self,
        ip_protocol: str,
        group_id: str,
        from_port: str,
        to_port: str,
        ip_ranges: list[Peer],
        source_groups: list[Peer],
        prefix_list_ids: list[Peer],
        is_egress: bool = False,
        tags: dict[str, str] | None = None,
    ) -> Iterator[SecurityGroupRule]:
        peers = [("ip_range", _as_peer(each)) for each in ip_ranges]
        peers += [("source_group", each) for each in source_groups]
        peers += [("prefix_list_id", each) for each in prefix_list_ids]
        for kind, peer in peers:
            yield DescribedRule(
                self,
                kind,
                peer,
                ip_protocol=ip_protocol,
                group_id=group_id,
                from_port=from_port,
                to_port=to_port,
                is_egress=is_egress,
                tags=tags,
            )

    def _sg_update_description(
        self, security_rule: SecurityGroupRule, rule: SecurityGroupRule
    ) -> None:
        if isinstance(rule, DescribedRule):
            rule.describe(security_rule.description)
        else:
            super()._sg_update_description(security_rule, rule)


def _as_peer(ip_range: Any) -> Peer:
    # moto allows a bare address too.
    if isinstance(ip_range, dict):
        return ip_range
    return {"CidrIpv6" if ":" in ip_range else "CidrIp": ip_range}
