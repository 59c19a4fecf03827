"""Which nodes can be counted on, by what they say and by what AWS says. Nothing is asked here."""

from __future__ import annotations

import ipaddress
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from ..groups import GroupInstance
from ..registrations import FRESH_S, Registration


@dataclass(frozen=True)
class LeftOut:
    """A node that is known and cannot be used, and why."""

    instance_id: str
    reason: str
    role: str
    """head or worker"""
    address: str = ""
    """Empty where it has not registered."""


@dataclass
class Choice:
    hosts: list[Registration] = field(default_factory=list)
    """Head first, workers by address."""
    left_out: list[LeftOut] = field(default_factory=list)

    def leave_out(self, registration: Registration, reason: str) -> None:
        self.left_out.append(
            LeftOut(registration.instance_id, reason, registration.role, registration.address)
        )


def choose(
    registrations: Iterable[Registration],
    members: Mapping[str, GroupInstance] | None,
    *,
    now: float,
) -> Choice:
    """Choose the nodes that are registered, fresh, ready and, for AWS, in service and healthy.

    Args:
        registrations: At most one an instance.
        members: The groups' instances; None where AWS cannot be asked: what a node says counts.
        now: Seconds since 1970.
    """
    choice = Choice()
    by_address: dict[str, Registration] = {}
    registered = set()
    # The latest last, so that of two with one address (the new instance got that of a dead one) the
    # later takes the place.
    for registration in sorted(registrations, key=lambda one: (one.time, one.instance_id)):
        registered.add(registration.instance_id)
        member = members.get(registration.instance_id) if members is not None else None
        if members is not None and member is None:
            if now - registration.time <= FRESH_S:
                choice.leave_out(registration, "is in neither group (any more)")
            continue  # of an instance that is gone
        if reason := _reason_against(registration, member, now):
            choice.leave_out(registration, reason)
            continue
        if earlier := by_address.get(registration.address):
            choice.leave_out(
                earlier,
                f"{registration.instance_id} has registered the same address, "
                f"{registration.address}, later",
            )
        by_address[registration.address] = registration
    choice.hosts = sorted(by_address.values(), key=_order)
    for member in (members or {}).values():
        if member.instance_id not in registered:
            choice.left_out.append(
                LeftOut(member.instance_id, _why_unregistered(member), member.role)
            )
    return choice


def _reason_against(
    registration: Registration, member: GroupInstance | None, now: float
) -> str | None:
    if member is not None and not member.is_usable:
        return f"AWS says: {member.lifecycle}, {member.health}"
    if registration.state == "failed":
        return f"its set-up failed: {registration.reason or 'no reason given'}"
    silent_s = now - registration.time
    if silent_s > FRESH_S:
        return f"has not registered for {silent_s:.0f} s"
    if silent_s < -FRESH_S:
        return f"its clock is {-silent_s:.0f} s ahead of this node's"
    if registration.state == "leaving":
        return f"is leaving: {registration.reason}" if registration.reason else "is leaving"
    return None


def _why_unregistered(member: GroupInstance) -> str:
    if not member.is_usable:
        return f"AWS says: {member.lifecycle}, {member.health}"
    return f"has not registered; the log of its set-up: stream {member.instance_id}/setup"


def _order(registration: Registration) -> tuple[bool, int]:
    return registration.role != "head", int(ipaddress.IPv4Address(registration.address))
