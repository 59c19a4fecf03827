"""The job's price against what the user allows."""

from __future__ import annotations

from collections.abc import Iterator

from training.platforms.api import Cost
from training.preflight.finding import Finding


def find(cost: Cost, max_usd: float | None) -> Iterator[Finding]:
    """Yield an error where the most that a job can cost is above the limit, or unknown."""
    if max_usd is None:
        return
    if cost.maximum is None:
        yield Finding(
            "cost-unknown",
            "error",
            f"limits.max_usd is {max_usd:,.10g}, and what the job costs is unknown"
            f"{_why(cost)}. Find the price, or leave limits.max_usd out",
            "limits.max_usd",
        )
    elif cost.maximum > max_usd:
        yield Finding(
            "cost-over-limit",
            "error",
            f"the job can cost {cost.maximum:,.2f} {cost.currency}, more than limits.max_usd "
            f"{max_usd:,.10g}; lower limits.max_run_s or raise the limit",
            "limits.max_usd",
        )


def _why(cost: Cost) -> str:
    """Return the first reason that says how to get the price; else the first of all."""
    reasons = [each for each in cost.assumptions if "refresh" in each] or [*cost.assumptions]
    return f": {reasons[0]}" if reasons else ""
