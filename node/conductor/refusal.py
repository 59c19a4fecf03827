"""What is answered instead of a result."""

from __future__ import annotations

from node.errors import NodeError


class Refused(NodeError):
    """Shown as its message; `kind` is busy, usage, not-found, not-ready or failed."""

    def __init__(self, kind: str, message: str) -> None:
        super().__init__(message)
        self.kind = kind
