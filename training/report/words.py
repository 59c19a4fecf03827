"""Numbers and durations as people read them."""

from __future__ import annotations

import math


def number(value: float, digits: int = 3) -> str:
    """Return a number with about `digits` significant digits: 0.412, 12.3, 1,480, 2.5e-05."""
    if value == 0 or not math.isfinite(value):
        return "0" if value == 0 else str(value)
    size = abs(value)
    if size >= 1e7 or size < 10**-digits:
        mantissa, _, exponent = f"{value:.{digits - 1}e}".partition("e")
        return f"{mantissa.rstrip('0').rstrip('.')}e{exponent}"
    decimals = max(0, digits - 1 - math.floor(math.log10(size)))
    return f"{value:,.{min(decimals, digits)}f}"


def short(value: float) -> str:
    """Return a tick's label: 0, 0.25, 400, 20k, 1.5M, 1e-4."""
    size = abs(value)
    if value == 0:
        return "0"
    for least, unit, letter in ((1e9, 1e9, "G"), (1e6, 1e6, "M"), (1e4, 1e3, "k")):
        if size >= least:
            return f"{value / unit:g}{letter}"
    if size < 1e-4:
        mantissa, _, exponent = f"{value:.1e}".partition("e")
        return f"{float(mantissa):g}e{int(exponent)}"
    return f"{value:g}"


def duration(seconds: float) -> str:
    """Return a duration in its two largest units: 0.4 s, 42 s, 4 min 12 s, 2 h 5 min, 3 d 4 h."""
    if seconds < 10:
        return f"{seconds:.2g} s"
    whole = round(seconds)
    for large, large_name, small, small_name in (
        (86_400, "d", 3_600, "h"),
        (3_600, "h", 60, "min"),
        (60, "min", 1, "s"),
    ):
        if whole >= large:
            rest = whole % large // small
            return f"{whole // large} {large_name}" + (f" {rest} {small_name}" if rest else "")
    return f"{whole} s"


def count(amount: int, noun: str) -> str:
    """Return an amount with its noun: 1 picture, 2 pictures."""
    return f"{amount:,} {noun}{'' if amount == 1 else 's'}"
