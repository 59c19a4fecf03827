"""How the commands print a line of their result."""

from __future__ import annotations

from training.cli import log, result


def show_line(text: str) -> None:
    """Print a line as it is: a file's name may look like markup."""
    result.print(text, markup=False)


def log_line(text: str) -> None:
    """Print a line that is no result, on stderr."""
    log.print(text, markup=False)
