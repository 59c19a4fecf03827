"""The hosts of an elastic round: each serves ranks, and is listed for horovodrun while it does."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from node import json_file
from node.registrations import Registration

from .round import Setting, described
from .session import Session

BLIP_S = 20
"""A host that is not seen for so long is let go; one that is back sooner stays."""
RELEASE_S = 60
"""A host that is let go: time for its ranks to be released before they are killed."""
_LONGEST_COOLDOWN_S = 300


@dataclass
class Part:
    """A host that serves ranks."""

    host: Registration
    session: Session
    slots: int
    missing_since: float | None = None
    released_at: float | None = None

    @property
    def is_pending(self) -> bool:
        return self.session.ready is None and not self.session.is_over

    @property
    def is_listed(self) -> bool:
        session = self.session
        return session.ready is not None and not session.is_over and self.released_at is None

    @property
    def why(self) -> str:
        """Why it is over."""
        return self.session.refusal or self.session.failure or self.session.last_words

    def state(self) -> str:
        if self.session.is_over:
            return "ended" if self.released_at is None else "lost"
        if self.released_at is not None:
            return "leaving"
        return "running" if self.session.ready is not None else "starting"


class ElasticHosts:
    """Args:
    setting: The round.
    told: What each host is told besides its address (docker/entrypoint/elastic_settings.py).
    listing: The file that has those that can be used, and how they are reached.
    """

    def __init__(self, setting: Setting, told: dict[str, Any], listing: Path) -> None:
        self._setting = setting
        self._told = told
        self._listing = listing
        self._parts: dict[str, Part] = {}
        self._failures: dict[str, tuple[int, float]] = {}
        self._lost: dict[str, None] = {}
        self._listed: list[dict[str, Any]] | None = None
        self.is_closing = False
        """No host is taken in or let go of any more."""
        for host in setting.hosts:
            self._take_in(host)
        self._list()

    def __iter__(self) -> Iterator[Part]:
        return iter(self._parts.values())

    @property
    def lost(self) -> tuple[str, ...]:
        """Addresses of those that went away."""
        return tuple(self._lost)

    @property
    def takes_part(self) -> bool:
        """Whether ranks run on this machine too."""
        return self._setting.head.slots > 0

    @property
    def processes(self) -> int:
        """How many ranks there may be now."""
        return sum(entry["slots"] for entry in self._listed or [])

    def look(self, now: float) -> None:
        """Take in who is new, let go of who is not there any more, and write the list."""
        # First what has ended: a host that failed is not taken in again at once.
        for part in self:
            self._look_at_part(part, now)
        if not self.is_closing:
            self._look_at_nodes(now)
        self._list()

    def described(self) -> list[dict[str, Any]]:
        head = self._setting.head
        here = [described(head, "running", self._slots(head))] if self.takes_part else []
        return here + [described(part.host, part.state(), part.slots) for part in self]

    def _look_at_nodes(self, now: float) -> None:
        """Take in hosts that are new, and let go of those that are not seen any more."""
        latest = self._setting.nodes.latest()
        if latest is None:
            return
        seen = {host.address: host for host in latest.hosts}
        leaving = {out.address for out in latest.left_out if out.reason.startswith("is leaving")}
        for address, part in self._parts.items():
            replaced = address in seen and seen[address].instance_id != part.host.instance_id
            if address in seen and not replaced:
                part.missing_since = None
                continue
            part.missing_since = part.missing_since or now
            if replaced or address in leaving or now - part.missing_since > BLIP_S:
                self._release(part, now)
        workers = self._setting.request.workers
        for host in latest.hosts:
            active = sum(not part.session.is_over for part in self._parts.values())
            if active < workers and self._may_join(host, now):
                self._take_in(host)

    def _may_join(self, host: Registration, now: float) -> bool:
        if host.role != "worker" or host.slots < 1:
            return False
        part = self._parts.get(host.address)
        if part is not None and not part.session.is_over:
            return False
        return now >= self._failures.get(host.address, (0, 0.0))[1]

    def _take_in(self, host: Registration) -> None:
        if host.address == self._setting.head.address:
            return
        told = {
            "address": host.address,
            "head_address": self._setting.head.address,
            **self._told,
        }
        order = self._setting.order("host", host, elastic=told)
        session = self._setting.session(order, is_head=False)
        self._parts[host.address] = Part(host, session, self._slots(host))

    def _look_at_part(self, part: Part, now: float) -> None:
        session, address = part.session, part.host.address
        if session.is_over and part.released_at is None and not self.is_closing:
            count = self._failures.get(address, (0, 0.0))[0] + 1
            pause_s = min(_LONGEST_COOLDOWN_S, 10 * 2 ** (count - 1))
            self._failures[address] = (count, now + pause_s)
            part.released_at = now
            if session.is_lost:
                self._lost[address] = None
            self._setting.output.say(f"host {address} is out: {part.why}")
        elif part.released_at is not None and now > part.released_at + RELEASE_S:
            session.kill()
            if now > part.released_at + 2 * RELEASE_S:
                session.abandon()

    def _release(self, part: Part, now: float) -> None:
        """Have horovodrun go on without a host; what runs there is ended a while later."""
        if part.released_at is None:
            part.released_at = now
            self._lost[part.host.address] = None
            self._setting.output.say(
                f"host {part.host.address} is let go: it is not there, or leaves"
            )

    def _list(self) -> None:
        """Write the list that horovodrun goes by."""
        listed: list[dict[str, Any]] = []
        head = self._setting.head
        if self.takes_part:
            listed.append({"host": head.address, "slots": self._slots(head)})
        for address, part in self._parts.items():
            ready = part.session.ready
            if part.is_listed and ready is not None:
                where = {name: ready.get(name) for name in ("port", "user", "host_key")}
                listed.append({"host": address, "address": address, "slots": part.slots, **where})
        if listed != self._listed:
            self._listed = listed
            json_file.write(self._listing, {"hosts": listed}, mode=0o600)

    def _slots(self, host: Registration) -> int:
        """Return how many ranks a host takes: no more than it has GPUs."""
        wanted = self._setting.request.processes_per_host
        return min(wanted, host.slots) if host.slots > 1 else wanted
