"""How old the price of a job is."""

from __future__ import annotations

from collections.abc import Iterator

from training.platforms.api import Cost
from training.preflight.finding import Finding
from training.prices.price_list import MAX_AGE_DAYS


def find(cost: Cost) -> Iterator[Finding]:
    """Yield a warning where a price is so old that AWS may ask another by now."""
    age = cost.price_age_days
    if age is not None and age > MAX_AGE_DAYS:
        yield Finding(
            "price-old",
            "warning",
            f"the price is {age} days old, and AWS may ask another by now; fetch today's with "
            "`python -m training.prices refresh` and the job's --region",
            "cost",
        )
