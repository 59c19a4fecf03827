"""How a job had ended when it was removed: the description that its release keeps.

`jobs stop` uninstalls a release and lets helm keep its record, so that everybody who may look into
the namespace sees how the job ended, and where its logs are.
"""

from __future__ import annotations

from typing import cast, get_args

from training.jobs.info import Status

MOST_CHARACTERS = 500
"""Of a description."""


def description(status: Status, reason: str | None) -> str:
    """Return what helm is to keep of a job that is removed."""
    text = f"{status}: {reason}" if reason else status
    return " ".join(text.split())[:MOST_CHARACTERS]


def ended_as(text: str) -> tuple[Status, str | None]:
    """Return status and reason from a release's description; another's is of one `stopped`."""
    status, _, reason = text.partition(": ")
    if status in get_args(Status):
        return cast(Status, status), reason or None
    return "stopped", f"its release was uninstalled ({text})" if text else None
