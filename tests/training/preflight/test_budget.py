"""A job's price against its limit."""

from __future__ import annotations

import pytest

from training.platforms.api import Cost
from training.preflight.budget import find


def cost(maximum: float | None) -> Cost:
    return Cost(per_hour=1.0, maximum=maximum, assumptions=())


@pytest.mark.parametrize(
    ("maximum", "limit", "code"),
    [
        (10.0, None, None),
        (10.0, 10.0, None),
        (10.01, 10.0, "cost-over-limit"),
        (None, None, None),
        (None, 10.0, "cost-unknown"),
        (0.0, 0.0, None),
    ],
)
def test_only_a_price_that_is_known_and_within_the_limit_passes(
    maximum: float | None, limit: float | None, code: str | None
) -> None:
    assert [f.code for f in find(cost(maximum), limit)] == ([code] if code else [])
