"""One family of errors; each class carries the exit code that a user's script sees.

The codes are part of the command line's contract (docs/reference.md).
"""

from __future__ import annotations

from enum import IntEnum

FOLDER_GONE = "the folder that this was started in is gone; change to another"
"""Said where a relative path leads nowhere any more."""


class ExitCode(IntEnum):
    """What a command's exit status means."""

    DONE = 0
    JOB_FAILED = 1
    USAGE = 2
    PREFLIGHT = 3
    AWS = 4
    CHECKPOINTED = 75
    """Stopped with a checkpoint: run the same command again (EX_TEMPFAIL of sysexits.h)."""
    INTERRUPTED = 130


class TrainingError(Exception):
    """Base of every error that is shown to the user as its message alone, never as a traceback.

    A message says where, what was given, what is allowed and what to do.
    """

    exit_code: ExitCode = ExitCode.JOB_FAILED
    label = "error"
    """What stands before the message."""


class JobFailed(TrainingError):
    """The job was started and did not succeed."""

    exit_code = ExitCode.JOB_FAILED


class UsageError(TrainingError):
    """The command line, a job spec or a file named in it is wrong; nothing was started."""

    exit_code = ExitCode.USAGE


class PreflightError(TrainingError):
    """A check found an error; nothing was started."""

    exit_code = ExitCode.PREFLIGHT


class AwsError(TrainingError):
    """AWS refused a request or could not be reached."""

    exit_code = ExitCode.AWS


class JobCheckpointed(TrainingError):
    """The job stopped on request with a checkpoint to go on from."""

    exit_code = ExitCode.CHECKPOINTED
    label = "stopped"


class Interrupted(TrainingError):
    """The user stopped the command before there was anything to resume."""

    exit_code = ExitCode.INTERRUPTED
    label = "stopped"
