"""Texts as users give them: what none may hold, and how they are shown in a message."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from training.redaction import redacted

LONGEST_SHOWN = 80
"""Characters of a value in a message; nobody reads more to find a mistake."""

FOREIGN_SYNTAX = ("{{", "${")
"""What CloudFormation and CDK put values in for: dynamic references, substitutions and tokens.

https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/dynamic-references.html
"""

# C0, DEL, C1, line and paragraph separator, and halves of a character that UTF-8 cannot encode.
_UNPRINTABLE = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")


def problems_of_text(value: object) -> Iterator[str]:
    """Yield what no text of a setting may hold, however deep in the value."""
    for text in _texts(value):
        for syntax in FOREIGN_SYNTAX:
            if syntax in text:
                yield f"it holds {syntax}, in place of which CloudFormation and CDK put other text"
        found = _UNPRINTABLE.search(text)
        if found:
            yield f"it holds the character {found[0]!r}, which cannot be printed"


def shown(value: object) -> str:
    """Return a value for a message: on one line, quoted, shortened, without a URL's token."""
    text = str(value).lower() if isinstance(value, bool) else repr(value)
    return shortened(redacted(printable(text)))


def printable(text: str) -> str:
    """Return a text on one line, with escapes for what cannot be printed."""
    return _UNPRINTABLE.sub(lambda found: repr(found[0])[1:-1], text)


def shortened(text: str, longest: int = LONGEST_SHOWN) -> str:
    """Return a text without its middle where it is longer than so many characters."""
    if len(text) <= longest:
        return text
    kept = longest // 2
    return f"{text[:kept]}…{text[-kept:]}"


def _texts(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for name, item in value.items():
            yield from _texts(name)
            yield from _texts(item)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from _texts(item)
