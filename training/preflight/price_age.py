"""How old the price of a job is."""

from __future__ import annotations

from collections.abc import Iterator

from training.platforms.api import Cost
from training.preflight.finding import Finding
from training.prices.price_list import MAX_AGE_DAYS
from training.prices.table import refresh_command


def find(cost: Cost) -> Iterator[Finding]:
    """Yield a warning where a price is so old that AWS may ask another by now."""
    age = cost.price_age_days
    if age is not None and age > MAX_AGE_DAYS and cost.price_region is not None:
        yield Finding(
            "price-old",
            "warning",
            f"the price is {age} days old, and AWS may ask another by now; fetch "
            f"today's: {refresh_command(cost.price_region)}",
            "cost",
        )
