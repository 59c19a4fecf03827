import pytest
from hypothesis import given
from hypothesis import strategies as st

from training.report.words import count, duration, number, short


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0, "0"),
        (0.41234, "0.412"),
        (12.345, "12.3"),
        (123.45, "123"),
        (1480.2, "1,480"),
        (-0.5, "-0.500"),
        (0.000025, "2.5e-05"),
        (float("nan"), "nan"),
    ],
)
def test_numbers_have_about_three_digits(value: float, text: str):
    assert number(value) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [(0, "0"), (0.25, "0.25"), (400, "400"), (20_000, "20k"), (1.5e6, "1.5M"), (1e-5, "1e-5")],
)
def test_ticks_are_short(value: float, text: str):
    assert short(value) == text


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0.22, "0.22 s"),
        (42, "42 s"),
        (252, "4 min 12 s"),
        (60, "1 min"),
        (7_500, "2 h 5 min"),
        (273_600, "3 d 4 h"),
    ],
)
def test_durations_use_two_units(seconds: float, text: str):
    assert duration(seconds) == text


def test_one_has_no_plural():
    assert (count(1, "step"), count(1200, "step")) == ("1 step", "1,200 steps")


@given(st.floats(allow_nan=True, allow_infinity=True))
def test_every_float_has_a_text(value: float):
    assert number(value)
