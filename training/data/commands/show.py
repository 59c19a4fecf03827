"""How the commands print a line of their result."""

from __future__ import annotations

from training.cli import log, result


def show_line(text: str) -> None:
    """Print a line as it is: a file's name may look like markup, or have no valid characters."""
    result.print(_printable(text), markup=False)


def log_line(text: str) -> None:
    """Print a line that is no result, on stderr."""
    log.print(_printable(text), markup=False)


def _printable(text: str) -> str:
    return text.encode("utf-8", "backslashreplace").decode("utf-8")
