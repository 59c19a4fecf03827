"""Machines that a job has used, by which it is paid for."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Usage:
    """Machines of one type that train, or trained, in a job."""

    service: str
    """Whose price they have, as `training.prices.price_list` names it."""
    region: str
    instance_type: str
    count: int
    seconds: float
    """Of each, so far."""

    @property
    def hours(self) -> float:
        """Of all of them together."""
        return self.count * self.seconds / 3600


@dataclass(frozen=True)
class NotKnown:
    """What nobody tells."""

    why: str
