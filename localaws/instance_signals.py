"""Whether instances say when they are set up (`aws cloudformation signal-resource`).

Where instances are records only, nobody would ever send a signal: CloudFormation then takes each
instance as set up as soon as it is there. Where hosts run (`localaws start --hosts`), it waits for
what they really say.
"""

from __future__ import annotations

_expected = False


def expect(value: bool) -> None:
    """Say whether instances run and will signal; before the first request."""
    global _expected  # noqa: PLW0603
    _expected = value


def expected() -> bool:
    """Return whether CloudFormation has to wait for signals."""
    return _expected
