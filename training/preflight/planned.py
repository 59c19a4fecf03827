"""All checks of a planned job."""

from __future__ import annotations

from typing import TYPE_CHECKING

from training import platforms
from training.preflight import budget, price_age

if TYPE_CHECKING:
    from training.job import Job
    from training.platforms.api import Plan
    from training.preflight.finding import Finding


def find(job: Job, plan: Plan, *, offline: bool) -> list[Finding]:
    """Return what they found; `offline` leaves out those that ask AWS."""
    return [
        *budget.find(plan.cost, job.spec.limits.max_usd),
        *price_age.find(plan.cost),
        *platforms.load(job.spec.platform).check(job, plan, offline=offline),
    ]
