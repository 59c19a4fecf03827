"""Clocks that are apart."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from node.health.clock import Sample, judge_clock, sample


def test_a_sample_counts_both_ways() -> None:
    ticks: Iterator[float] = iter([100.0, 100.4])
    taken = sample(lambda: 103.2, lambda: next(ticks))
    assert taken.offset_s == pytest.approx(3.0)
    assert taken.error_s == pytest.approx(0.2)


@pytest.mark.parametrize(
    ("ahead_s", "status", "said"),
    [
        (0.004, "ok", ""),
        (2.0, "warning", "the clock is 2.0 s ahead of the head's"),
        (-31.0, "failed", "the clock is 31.0 s behind of the head's: the node would soon count"),
    ],
)
def test_what_matters_is_told(ahead_s: float, status: str, said: str) -> None:
    check = judge_clock([Sample(10, 10.001 + ahead_s, 10.002)])
    assert check.status == status
    assert said in check.message


def test_the_quickest_answer_counts() -> None:
    slow, quick = Sample(0, 90, 60), Sample(100, 100.001, 100.002)
    assert judge_clock([slow, quick]).value == "+0.0 ms"


@given(offset=st.floats(-0.4, 0.4), there=st.floats(0, 30), back=st.floats(0, 30))
def test_a_slow_network_makes_no_clock_wrong(offset: float, there: float, back: float) -> None:
    one = Sample(1000.0, 1000.0 + there + offset, 1000.0 + there + back)
    assert judge_clock([one]).status == "ok"
