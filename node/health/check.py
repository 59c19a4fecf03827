"""What one look at a node comes to."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Union

OK, WARNING, FAILED = "ok", "warning", "failed"

Value = Union[str, int, float, None]


@dataclass(frozen=True)
class Check:
    """One thing that was looked at.

    Attributes:
        name: Stable, for scripts.
        status: `ok`, `warning` or `failed`; what failed keeps a node from its work.
        value: What was seen.
        message: What is wrong, what is expected and what to do; empty where nothing is.
    """

    name: str
    status: str
    value: Value = None
    message: str = ""

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


def ok(name: str, value: Value = None) -> Check:
    return Check(name, OK, value)


def warning(name: str, message: str, value: Value = None) -> Check:
    return Check(name, WARNING, value, message)


def failed(name: str, message: str, value: Value = None) -> Check:
    return Check(name, FAILED, value, message)
