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


def test_amounts_have_separators() -> None:
    [found] = find(cost(11222.67), 2500)
    assert found.message.startswith(
        "the job can cost 11,222.67 USD, more than limits.max_usd 2,500; "
    )


def test_why_a_price_is_not_known_is_told_with_what_to_do() -> None:
    said = ("the training itself at most 1.00 USD", "not known: `prices refresh` asks AWS")
    [found] = find(Cost(per_hour=1.0, maximum=None, assumptions=said), 10.0)
    assert found.message == (
        "limits.max_usd is 10, and what the job costs is unknown: not known: `prices refresh` asks "
        "AWS. Find the price, or leave limits.max_usd out"
    )
