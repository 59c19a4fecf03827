"""What a job has cost so far, worked out from the machines that it has used."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from training.prices.table import Price, Unknown, find_price
from training.prices.usage import NotKnown, Usage

LEFT_OUT = (
    "left out: disks, S3, EFS or FSx, NAT and data transfer, what a cluster costs besides the "
    "machines that train, taxes, discounts; spot costs less"
)
"""Of every figure."""


@dataclass(frozen=True)
class Spent:
    """Money that is gone."""

    usd: float | None
    """At prices on demand; None where that is not known, never 0."""
    hours: float | None
    """Of all machines together; None where that is not known."""
    assumptions: tuple[str, ...]
    """What the figure is made of, or why there is none."""

    def to_json(self) -> dict[str, Any]:
        """Return plain JSON values."""
        return {
            "currency": "USD",
            "so_far": None if self.usd is None else round(self.usd, 2),
            "instance_hours": None if self.hours is None else round(self.hours, 4),
            "assumptions": list(self.assumptions),
        }


def spent(usage: Sequence[Usage] | NotKnown, *, cache: Path) -> Spent:
    """Return what machines have cost so far.

    Args:
        usage: Of one job; empty where it has not got any yet.
        cache: Where fetched prices are (`training.prices.cache.price_cache`).
    """
    if isinstance(usage, NotKnown):
        return Spent(None, None, (usage.why,))
    hours = sum(each.hours for each in usage)
    found = [(e, find_price(e.service, e.region, e.instance_type, cache=cache)) for e in usage]
    if unknown := [price.why for _, price in found if isinstance(price, Unknown)]:
        return Spent(None, hours, tuple(dict.fromkeys(unknown)))
    known = [(each, price) for each, price in found if isinstance(price, Price)]
    return Spent(
        sum(each.hours * price.usd_per_hour for each, price in known),
        hours,
        tuple(_said(each, price) for each, price in known),
    )


def _said(usage: Usage, price: Price) -> str:
    return (
        f"{usage.count:,} {usage.instance_type} for {usage.seconds:,.0f} s at "
        f"{price.usd_per_hour:.10g} USD an hour each, on demand in {price.of.region}, AWS's list "
        f"price of {price.of.as_of}"
    )
