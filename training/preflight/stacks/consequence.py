"""What a change of settings brings about, as one rule or another says it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from stacks.settings import Settings

Value = Callable[["Settings"], Any]


@dataclass(frozen=True)
class Consequence:
    """What a change brings about."""

    code: str
    keys: tuple[str, ...]
    """The settings that may be the reason."""
    message: str
    """What happens and what to do, after the reason."""


@dataclass(frozen=True)
class Rule:
    """A consequence of a value that differs."""

    code: str
    keys: tuple[str, ...]
    """The settings that the value is made from."""
    value: Value
    """None where a change of it does not matter."""
    message: str
