"""Texts from elsewhere, such as names of files, as a terminal or a page may show them."""

from __future__ import annotations

import re

_COMMANDS = re.compile(
    # Control characters, of which ESC begins what a terminal obeys; tab and line breaks stay.
    r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]|\r(?!\n)"
    # Marks that turn the order of what follows: https://unicode.org/reports/tr9/
    r"|[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]"
    # Separators, at which some programs break lines, and what no encoding has.
    r"|[\u2028\u2029\ud800-\udfff]"
)


def visible(text: str) -> str:
    r"""Return a text in which what would be obeyed rather than shown is spelt out, as `\x1b`."""
    return _COMMANDS.sub(lambda found: found[0].encode("unicode_escape").decode("ascii"), text)
