"""What the rules of a security group let in and out."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from ipaddress import IPv4Network
from typing import Any

Ports = tuple[int, int]
"""The first and the last."""

ALL_PORTS: Ports = (0, 65535)
_NO_PORTS: Ports = (1, 0)

_EVERYWHERE = IPv4Network("0.0.0.0/0")


@dataclass(frozen=True)
class Peer:
    """Those at the other end."""

    group_id: str
    """Which they are members of."""
    networks: tuple[IPv4Network, ...] = ()
    """Where their addresses are; unknown where there are none."""


ANYONE = Peer("nobody's group")
"""Whom only rules for all addresses are about."""


def admits(group: Mapping[str, Any], ports: Ports, peer: Peer) -> bool:
    """Return whether a group lets TCP in on all of some ports.

    Args:
        group: As EC2 describes it.
        ports: The first and the last.
        peer: Where it comes from.
    """
    return _open(group.get("IpPermissions", []), ports, peer)


def releases(group: Mapping[str, Any], ports: Ports, peer: Peer) -> bool:
    """Return whether a group lets TCP out on all of some ports.

    Args:
        group: As EC2 describes it.
        ports: The first and the last.
        peer: Where it goes to.
    """
    return _open(group.get("IpPermissionsEgress", []), ports, peer)


def admits_everything(group: Mapping[str, Any], group_id: str) -> bool:
    """Return whether a group lets every protocol in from the members of another, by its id."""
    return _names_in_full(group.get("IpPermissions", []), group_id)


def releases_everything(group: Mapping[str, Any], group_id: str) -> bool:
    """Return whether a group lets every protocol out to the members of another, by its id."""
    return _names_in_full(group.get("IpPermissionsEgress", []), group_id)


def _names_in_full(permissions: Iterable[Mapping[str, Any]], group_id: str) -> bool:
    return any(
        found["IpProtocol"] == "-1" and _names_group(found, group_id) for found in permissions
    )


def _open(permissions: Iterable[Mapping[str, Any]], ports: Ports, peer: Peer) -> bool:
    return _covers((_ports_of(found) for found in permissions if _is_about(found, peer)), ports)


def _is_about(permission: Mapping[str, Any], peer: Peer) -> bool:
    if _names_group(permission, peer.group_id):
        return True
    ranges = [IPv4Network(found["CidrIp"]) for found in permission.get("IpRanges", [])]
    return all(
        any(network.subnet_of(found) for found in ranges)
        for network in peer.networks or (_EVERYWHERE,)
    )


def _names_group(permission: Mapping[str, Any], group_id: str) -> bool:
    return any(pair.get("GroupId") == group_id for pair in permission.get("UserIdGroupPairs", []))


def _ports_of(permission: Mapping[str, Any]) -> Ports:
    if permission["IpProtocol"] == "-1":
        return ALL_PORTS
    if permission["IpProtocol"] != "tcp":
        return _NO_PORTS
    return permission["FromPort"], permission["ToPort"]


def _covers(ranges: Iterable[Ports], ports: Ports) -> bool:
    """Return whether ranges together hold all ports."""
    first, last = ports
    for begin, end in sorted(ranges):
        if begin <= first <= end:
            first = end + 1
    return first > last
