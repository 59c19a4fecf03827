"""One thing that was looked at on a node, or about it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, Self

Status = Literal["ok", "warning", "failed"]


@dataclass(frozen=True)
class NodeCheck:
    """What a look came to; node/health/check.py is the same on the nodes."""

    name: str
    status: Status
    value: str | int | float | None = None
    message: str = ""

    @classmethod
    def read(cls, found: Mapping[str, Any]) -> Self:
        """Read what a node says; a status that is not known, of a later version, is a failure."""
        status = found.get("status")
        return cls(
            str(found.get("name")),
            status if status in ("ok", "warning") else "failed",
            found.get("value"),
            str(found.get("message") or ""),
        )

    def to_json(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "status": self.status,
            "value": self.value,
            "message": self.message,
        }


def failed(name: str, message: str, value: str | None = None) -> NodeCheck:
    return NodeCheck(name, "failed", value, message)


def warning(name: str, message: str, value: str | None = None) -> NodeCheck:
    return NodeCheck(name, "warning", value, message)


def ok(name: str, value: str | None = None) -> NodeCheck:
    return NodeCheck(name, "ok", value)
