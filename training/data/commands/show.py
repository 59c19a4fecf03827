"""How the commands print a line of their result."""

from __future__ import annotations

from training.cli import result


def show_line(text: str) -> None:
    """Print a line as it is: a file's name may look like markup, or have no valid characters."""
    result.print(text.encode("utf-8", "backslashreplace").decode("utf-8"), markup=False)
