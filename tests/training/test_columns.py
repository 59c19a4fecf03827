"""Rows of cells as lines."""

from __future__ import annotations

import pytest

from training.columns import in_columns

ROWS = [("NAME", "HOURS", "USD"), ("a-long-name", "1.00", "1,234.50"), ("b", "10.25", "")]


def test_texts_stand_left_and_figures_right() -> None:
    assert list(in_columns(ROWS, figures=2)) == [
        "NAME         HOURS       USD",
        "a-long-name   1.00  1,234.50",
        "b            10.25",
    ]


def test_all_are_texts_unless_said() -> None:
    assert list(in_columns(ROWS))[1:] == ["a-long-name  1.00   1,234.50", "b            10.25"]


def test_rows_of_other_lengths_are_refused() -> None:
    with pytest.raises(ValueError, match="zip"):
        list(in_columns([("a",), ("a", "b")]))
