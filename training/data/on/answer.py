"""What a run elsewhere says at its end: its result in one line, or its exit code in the reason."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import fields
from typing import Any

from training.data.here import Outcome
from training.errors import (
    AwsError,
    ExitCode,
    Interrupted,
    JobFailed,
    PreflightError,
    TrainingError,
    UsageError,
)

MARK = "mask-rcnn-result: "
"""What the line begins with; docker/entrypoint/data.py writes it."""

_MOUNTED = re.compile(r"/\S*/mask-rcnn-mounts/(fs-[0-9a-f]+)(?=[/:'\s]|$)")
"""A file system, as the container has it."""

_EXIT_CODE = re.compile(r"exit code:? (\d+)", re.IGNORECASE)

_LAST_LINES = re.compile(r"(?:\n  .*)*\Z")
"""Of the run, which a platform puts behind its reason."""

_ERRORS: dict[int, type[TrainingError]] = {
    each.exit_code: each for each in (UsageError, PreflightError, AwsError, Interrupted)
}


class Answer:
    """Takes the lines of a run, and keeps the one that is its result."""

    def __init__(self, show: Callable[[str], None]) -> None:
        self._show = show
        self.result: Any = None
        """What the command printed; None where that line did not get here."""
        self.error: PreflightError | None = None
        """Why it did not end well, although it has a result."""

    def take(self, line: str) -> None:
        """Take a line; any that is not the result is shown."""
        before, mark, text = line.partition(MARK)
        if mark and not before.strip():
            self.result = _read(named(text))
        else:
            self._show(named(line))

    @property
    def outcome(self) -> Outcome | None:
        """What a copy did; None where that is not known here."""
        try:
            names = {field.name for field in fields(Outcome)}
            return Outcome(**{key: value for key, value in self.result.items() if key in names})
        except (AttributeError, TypeError):
            return None


def as_it_left(error: JobFailed) -> TrainingError:
    """Return the error of the kind that the command had there, by its exit code.

    The code is the last thing of the reason; the words before it are the command's, of some lines.
    """
    text = str(error)
    found = _EXIT_CODE.findall(_LAST_LINES.sub("", text)) or _EXIT_CODE.findall(text)
    code = int(found[-1]) if found else ExitCode.JOB_FAILED
    return _ERRORS.get(code, JobFailed)(named(str(error)))


def named(text: str) -> str:
    """Return a text in which places on file systems are named as everywhere: `fs-…:/path`."""
    return _MOUNTED.sub(r"\1:", text)


def stopped(name: str, why: str) -> Interrupted:
    """Return how a run that was stopped is told."""
    return Interrupted(
        f"{name} was stopped ({why}); what it has copied stays: the same command goes on from "
        "there, under another --name if it had one"
    )


def _read(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return None
