"""Rows of cells as lines of text, each column as wide as its longest cell."""

from __future__ import annotations

from collections.abc import Iterator, Sequence


def in_columns(rows: Sequence[Sequence[str]], *, figures: int = 0) -> Iterator[str]:
    """Yield a line for each row.

    Args:
        rows: Of equal lengths, the heading included.
        figures: How many of the last columns are numbers, which stand right.
    """
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    texts = len(widths) - figures
    for row in rows:
        cells = [
            cell.ljust(width) if number < texts else cell.rjust(width)
            for number, (cell, width) in enumerate(zip(row, widths, strict=True))
        ]
        yield "  ".join(cells).rstrip()
