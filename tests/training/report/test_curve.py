import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from training.report.curve import Curve

VALUES = st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=400)


def curve_of(values: list[float], limit: int) -> Curve:
    curve = Curve(limit)
    for x, y in enumerate(values):
        curve.add(x, y)
    return curve


@given(VALUES, st.integers(1, 20).map(lambda half: 2 * half))
def test_a_curve_stays_bounded_and_keeps_mean_and_range(values: list[float], limit: int):
    curve = curve_of(values, limit)
    assert len(curve) <= limit
    assert sum(point.samples for point in curve) == len(values)
    assert curve.mean == pytest.approx(sum(values) / len(values), abs=1e-3)
    assert min(point.low for point in curve) == min(values)
    assert max(point.high for point in curve) == max(values)
    assert all(point.low - 1e-3 <= point.mean <= point.high + 1e-3 for point in curve)


@given(VALUES, st.integers(1, 20).map(lambda half: 2 * half))
def test_points_are_in_order_and_end_at_the_last_sample(values: list[float], limit: int):
    xs = [point.x for point in curve_of(values, limit)]
    assert xs == sorted(set(xs))
    assert xs[-1] == len(values) - 1


def test_a_short_curve_keeps_every_sample():
    assert [point.mean for point in curve_of([1.0, 5.0, 3.0], 500)] == [1.0, 5.0, 3.0]


def test_four_hundred_thousand_samples_make_at_most_five_hundred_points():
    curve = Curve()
    for step in range(400_000):
        curve.add(step, math.sin(step / 50_000))
    assert 250 <= len(curve) <= 500
    assert curve.points[-1].x == 399_999


def test_rewind_forgets_what_will_be_done_again():
    curve = curve_of([0, 1, 2, 3, 4], 500)
    curve.rewind(3)
    assert [point.x for point in curve] == [0, 1, 2]
