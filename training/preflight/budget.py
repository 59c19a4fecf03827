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
            f"limits.max_usd is {max_usd:g}, and what the job costs is unknown",
            "limits.max_usd",
        )
    elif cost.maximum > max_usd:
        yield Finding(
            "cost-over-limit",
            "error",
            f"the job can cost {cost.maximum:.2f} {cost.currency}, more than limits.max_usd "
            f"{max_usd:g}; lower limits.max_run_s or raise the limit",
            "limits.max_usd",
        )
