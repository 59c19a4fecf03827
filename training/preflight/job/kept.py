"""What the log folder of a job that goes on says of the job before: its hyperparameters, its end.

The containers write both, docker/entrypoint/record.py and the trainer of docker/horovod.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from training.hyperparameter_text import to_texts
from training.preflight.check import Check
from training.preflight.finding import Finding, Severity
from training.preflight.job.log_files import LogFiles, LogInFolder, LogOnS3

if TYPE_CHECKING:
    from training.job import Job

_CODES: Mapping[str, Severity] = {
    "resume-changes-hyperparameters": "error",
    "resume-completed": "warning",
    "log-unreadable": "error",
}


@dataclass(frozen=True)
class _Kept(LogFiles, Check):
    """Files of such a folder, wherever it is."""

    hyperparameters: Mapping[str, str]
    """Of the job that is planned."""
    defaults: Mapping[str, str]
    """For those that came after the job began."""

    def find(self) -> Iterator[Finding]:
        yield from self._find_changed()
        yield from self._find_completed()

    def _find_changed(self) -> Iterator[Finding]:
        name = "hyperparameters.json"
        try:
            content = self.read(name)
            record = None if content is None else _object(content)
        except (OSError, RecursionError, ValueError) as error:
            yield self.found(
                "log-unreadable",
                "name",
                f"{self.place}/{name} cannot be read ({error}); start the job under another --name",
            )
            return
        if record is None:  # Of a job that ended before its first line.
            return
        now = plain(self.hyperparameters)
        before = {**plain(self.defaults), **plain(record)}
        keys = sorted(before.keys() | now.keys())
        changes = [
            f"{key} {before.get(key)} to {now.get(key)}"
            for key in keys
            if before.get(key) != now.get(key)
        ]
        if changes:
            yield self.found(
                "resume-changes-hyperparameters",
                "hyperparameters",
                f"the job in {self.place} cannot go on with other hyperparameters "
                f"({', '.join(changes)}); set them as they were, or start a new job under another "
                "--name",
            )

    def _find_completed(self) -> Iterator[Finding]:
        try:
            content = self.read("outcome.json")
            status = None if content is None else _object(content).get("status")
        except (OSError, RecursionError, ValueError):
            return  # The trainer writes it anew.
        if status == "completed":
            yield self.found(
                "resume-completed",
                "name",
                f"the job in {self.place} has completed, so that there is nothing to go on with: "
                "machines would start, and be paid for, to write the same model again. Start a new "
                "job under another --name",
            )


@dataclass(frozen=True)
class JobOnS3IsTheSame(LogOnS3, _Kept):
    """A job that goes on from S3 has the hyperparameters it began with, and is not done."""

    codes: ClassVar[Mapping[str, Severity]] = _CODES
    actions: ClassVar[tuple[str, ...]] = ("s3:GetObject",)


@dataclass(frozen=True)
class JobInFolderIsTheSame(LogInFolder, _Kept):
    """The same of a log folder whose file system is mounted on this machine."""

    codes: ClassVar[Mapping[str, Severity]] = _CODES
    actions: ClassVar[tuple[str, ...]] = ()


def _object(content: bytes) -> dict[str, Any]:
    """Read a JSON object.

    Raises:
        ValueError: It is none.
    """
    document = json.loads(content)
    if not isinstance(document, dict):
        raise ValueError("it holds no names and values")
    return document


def hyperparameter_texts(job: Job) -> tuple[dict[str, str], dict[str, str]]:
    """Return the texts that every platform would be sent, and those of a job that sets none."""
    return to_texts(job.hyperparameters), to_texts(type(job.hyperparameters)())


def plain(texts: Mapping[str, Any]) -> dict[str, Any]:
    """Take off JSON's quotes, as the containers do before they write a text down."""
    return {name: _unquoted(text) for name, text in texts.items()}


def _unquoted(text: Any) -> Any:
    if not (isinstance(text, str) and len(text) > 1 and text[0] == text[-1] == '"'):
        return text
    try:
        return json.loads(text)
    except ValueError:
        return text
