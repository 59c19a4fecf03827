"""Tells a run that had ended before this command began from the one that it asked for.

A request that comes twice makes one run, since an answer may be lost. A copy that is asked for
again another day is another copy, though it is the same request: what is there may have changed.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Protocol

from training.errors import UsageError
from training.jobs.info import Status

SKEW = timedelta(minutes=5)
"""How far this machine's clock may be off: AWS takes no request that is further.
https://docs.aws.amazon.com/IAM/latest/UserGuide/signature-v4-troubleshooting.html"""


class Found(Protocol):
    """A run as its platform tells of it."""

    @property
    def name(self) -> str: ...
    @property
    def status(self) -> Status: ...
    @property
    def created(self) -> datetime | None: ...


def refuse_old(found: Found | None, asked_at: datetime, *, look: str) -> None:
    """Refuse to tell the success of an old run as that of this command.

    One that failed, or was stopped, is told as it ended: nobody takes that for a copy.

    Args:
        found: What has the name; None where it was made now.
        asked_at: When this command sent its request.
        look: The command that shows the old run.

    Raises:
        UsageError: It completed, and was there before.
    """
    if found is None or found.status != "completed" or found.created is None:
        return
    if found.created < asked_at - SKEW:
        raise UsageError(
            f"--name {found.name}: that run, of {found.created:%Y-%m-%d %H:%M} UTC, has completed; "
            f"nothing was done now. Give another --name, or none; to see that run: {look}"
        )
