"""What the set-up tells a user instead of a traceback."""

from __future__ import annotations


class SetupError(Exception):
    """Something that the set-up needs is missing or failed; the message says what to do."""


class Interrupted(BaseException):
    """The user, or whoever started the command, asked it to stop.

    Not an `Exception`, so that no handler of ordinary failures swallows it.
    """
