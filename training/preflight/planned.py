"""All checks of a planned job."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from training import platforms
from training.preflight import budget, price_age
from training.preflight.finding import Finding

if TYPE_CHECKING:
    from training.job import Job
    from training.platforms.api import Plan


def find(job: Job, plan: Plan, *, offline: bool) -> list[Finding]:
    """Return what they found; `offline` leaves out those that ask AWS."""
    return [
        *budget.find(plan.cost, job.spec.limits.max_usd),
        *price_age.find(plan.cost),
        *platforms.load(job.spec.platform).check(job, plan, offline=offline),
    ]


def not_asked(plan: Plan) -> Iterator[Finding]:
    """Yield, where nobody was asked about a plan for AWS, what that leaves open."""
    from training.preflight.job import is_for_aws

    if is_for_aws(plan):
        yield Finding(
            "account-not-asked",
            "info",
            "not checked: data, image, network, quotas, rights (no account was asked). Leave "
            "--outputs-file out, or run python -m training.preflight with the same options",
            "account",
        )
