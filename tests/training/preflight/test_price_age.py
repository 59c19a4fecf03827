"""The age of a job's price."""

from __future__ import annotations

import pytest

from training.platforms.api import Cost
from training.preflight.price_age import find


@pytest.mark.parametrize(("age", "warned"), [(None, False), (0, False), (90, False), (91, True)])
def test_only_a_price_older_than_90_days_is_warned_of(age: int | None, warned: bool) -> None:
    cost = Cost(per_hour=1, maximum=1, assumptions=(), price_age_days=age, price_region="eu-west-1")
    found = list(find(cost))
    assert [(each.code, each.severity) for each in found] == (
        [("price-old", "warning")] if warned else []
    )
    assert all(f"{age} days" in each.message for each in found)
    assert all(
        "`python -m training.prices refresh --region eu-west-1`" in each.message for each in found
    )
