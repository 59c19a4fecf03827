"""What ends a command, shown as its message."""

from __future__ import annotations


class NodeError(Exception):
    """Something is not as it must be: the message says what, where, and what to do."""

    kind = "failed"
    """As in the answers of `mask-rcnn-node`."""


class UsageError(NodeError):
    """The caller asked for what there is not."""

    kind = "usage"
