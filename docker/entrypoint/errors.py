"""What ends a job, and the exit codes of a container."""

from typing import NamedTuple

DONE = 0
FAILED = 1
USAGE = 2
STOPPED_WITH_CHECKPOINT = 75
"""The same job, started again, goes on (EX_TEMPFAIL of sysexits.h; docs/reference.md)."""
STOPPED = 143
"""Stopped before there was anything new to go on from: what a shell gives for SIGTERM."""


class EntrypointError(Exception):
    """A reason to end that is shown as its message: place, value, what is allowed, what to do."""


class StopAsked(Exception):
    """SIGTERM came before the ranks had started; there is nothing to save."""


class JobOver(Exception):
    """The head has ended the job before this host was part of it."""

    def __init__(self, ending: "Ending") -> None:
        super().__init__(ending.reason)
        self.ending = ending


class Ending(NamedTuple):
    """How the job ended, the same on every host."""

    code: int
    reason: str
    """For people; goes to the failure file where `code` is a failure."""

    @property
    def is_failure(self) -> bool:
        return self.code not in (DONE, STOPPED, STOPPED_WITH_CHECKPOINT)
