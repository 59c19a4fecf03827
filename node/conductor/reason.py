"""A reason as it may leave the cluster: by mail, and as a part of JSON that is put in unquoted."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

HIDDEN = "***"

MOST_CHARACTERS = 500
_MOST_READ = 4000
"""More is not even looked at: a message of a trainer may be a whole traceback."""
SHORTEST_SECRET = 6
"""Shorter values of variables are common words: they would be taken out of sentences."""

# Quotes and backslashes would end, or change, a text of JSON; < and > are places in templates of
# EventBridge, and links in chats.
_PLAINER = str.maketrans({'"': "'", "\\": "/", "<": "(", ">": ")"})

# As training/redaction.py, which only nodes with the trainer have.
_IN_ADDRESS = re.compile(r"(?P<scheme>[A-Za-z][A-Za-z0-9+.-]{0,30}://)[^\s'\"]*@")
_BEHIND_ADDRESS = re.compile(r"(?P<address>[A-Za-z][A-Za-z0-9+.-]{0,30}://[^\s'\"?]+\?)[^\s'\"]+")
"""A signed address has its signature there."""
_ACCESS_KEY = re.compile(r"\b(?:AKIA|ASIA)[A-Z0-9]{12,}\b")
_NAMED = re.compile(
    r"(?P<name>\w*(?:secret|token|password|passwd|credential|authorization|api_?key|access_?key)\w*"
    r"['\"]?\s*[=:]\s*)(?:(?:Bearer|Basic)\s+)?['\"]?[^\s'\",;}]+",
    re.IGNORECASE,
)


def secrets_of(variables: Mapping[str, object]) -> tuple[str, ...]:
    """Return the values of a user's variables, the longest first: one may be a part of another."""
    values = {value for value in variables.values() if isinstance(value, str)}
    return tuple(
        sorted((value for value in values if len(value) >= SHORTEST_SECRET), key=len, reverse=True)
    )


def plain(reason: str, secrets: Iterable[str]) -> str:
    """Return a reason in one line without quotes, backslashes, and what looks like a secret."""
    for secret in secrets:
        reason = reason.replace(secret, HIDDEN)
    reason = reason[:_MOST_READ]
    reason = _IN_ADDRESS.sub(rf"\g<scheme>{HIDDEN}@", reason)
    reason = _BEHIND_ADDRESS.sub(rf"\g<address>{HIDDEN}", reason)
    reason = _NAMED.sub(rf"\g<name>{HIDDEN}", reason)
    reason = _ACCESS_KEY.sub(HIDDEN, reason)
    shown = "".join(each if each.isprintable() else " " for each in reason)
    line = " ".join(shown.split()).translate(_PLAINER)
    return line if len(line) <= MOST_CHARACTERS else f"{line[: MOST_CHARACTERS - 1]}…"
