"""Keeps what a user typed by mistake, and nobody else should read, out of messages."""

from __future__ import annotations

import re

_USER = re.compile(r"(?P<scheme>[A-Za-z][A-Za-z0-9+.-]{0,30}://)[^\s'\"]*@")
"""The user and token before a URL's host. Up to the last @: tokens hold what URLs do not allow."""


def redacted(text: str) -> str:
    """Return a text in which no URL names a user or token."""
    return _USER.sub(r"\g<scheme>***@", text)
