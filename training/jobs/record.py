"""The jobs that were launched from this machine: a small file, which AWS knows better.

It tells where a job went whose name is all that is left of it. Each line is one launch, as JSON; a
job that was refused in the end has one too. The file may be deleted, and
`python -m training.jobs list --platform all --record` writes down what AWS knows.
"""

from __future__ import annotations

import fcntl
import json
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Self

from training.base_folders import base_folder
from training.maskrcnn.files import write_atomically

RECORD = "distributed-mask-rcnn/jobs.jsonl"
"""The file, in the user's folder of states; Tab completion reads it too."""

LOCK_WAIT_S = 5.0
"""A line takes milliseconds; who holds the lock for longer has stopped."""

ASK_AWS = "python -m training.jobs list --platform all"

REBUILD = f"{ASK_AWS} --record"


@dataclass(frozen=True, kw_only=True)
class Recorded:
    """A job that was launched."""

    name: str
    platform: str
    region: str | None
    account: str | None
    created: str | None
    """When it was launched: UTC, ISO 8601."""
    log: str | None
    """Its log folder: s3://…, or <file system>:<path>."""
    instance_type: str | None = None
    """Of the machines that train, where all are of one type; SageMaker's with `ml.`."""

    @classmethod
    def parse(cls, line: bytes) -> Self | None:
        """Read a line; None where it is damaged."""
        try:
            said: Any = json.loads(line)
            found = {name: said.get(name) for name in cls.__dataclass_fields__}
        except (AttributeError, RecursionError, ValueError):
            return None
        texts = [value for value in found.values() if value is not None]
        if not all(isinstance(text, str) for text in texts):
            return None
        return cls(**found) if found["name"] and found["platform"] else None

    def to_line(self) -> bytes:
        return json.dumps(asdict(self)).encode() + b"\n"

    @property
    def key(self) -> tuple[str | None, ...]:
        """What two jobs of the same name differ in."""
        return self.name, self.platform, self.account, self.region

    @property
    def place(self) -> str:
        """Where it went, in words."""
        parts = [f"platform {self.platform}"]
        parts += [self.region] if self.region else []
        parts += [f"account {self.account}"] if self.account else []
        return ", ".join(parts)


class RecordTrouble(Exception):
    """The record cannot be used; its text is a sentence for people."""


@dataclass(frozen=True)
class Record:
    """The file. Its methods raise `RecordTrouble` alone, which is to be told, and ends nothing."""

    file: Path

    @classmethod
    def of(cls, environ: Mapping[str, str]) -> Self:
        """Return the user's own: https://specifications.freedesktop.org/basedir-spec/latest/"""
        root, home = base_folder(environ, "XDG_STATE_HOME"), environ.get("HOME")
        if not root and not home:
            raise RecordTrouble("neither XDG_STATE_HOME nor HOME says where it would be")
        states = root or Path(home or "") / ".local" / "state"
        return cls(states / RECORD)

    def read(self) -> tuple[list[Recorded], int]:
        """Return the jobs, newest first, and how many lines are damaged."""
        lines = [line for line in self._content().splitlines() if line.strip()]
        parsed = [Recorded.parse(line) for line in lines]
        # Of a job that was launched twice, such as after a lost answer, the last counts.
        jobs = {each.key: each for each in parsed if each is not None}
        newest = sorted(jobs.values(), key=lambda each: each.created or "", reverse=True)
        return newest, sum(each is None for each in parsed)

    def add(self, job: Recorded) -> None:
        """Write a job down."""
        with self._locked():
            # What was cut off must not take the new line with it.
            torn = self._content()[-1:] not in (b"", b"\n")
            with self.file.open("ab") as file:
                file.write((b"\n" if torn else b"") + job.to_line())

    def add_missing(self, jobs: Iterable[Recorded]) -> int:
        """Write down those that are not there yet, and leave damaged lines out from now on.

        Returns:
            How many were added.
        """
        with self._locked():
            known, _ = self.read()
            keys = {each.key for each in known}
            missing = {each.key: each for each in jobs if each.key not in keys}
            both = sorted((*known, *missing.values()), key=lambda each: each.created or "")
            write_atomically(self.file, b"".join(each.to_line() for each in both))
        return len(missing)

    def _content(self) -> bytes:
        try:
            return self.file.read_bytes()
        except FileNotFoundError:
            return b""
        except OSError as error:
            raise RecordTrouble(f"{self.file}: cannot be read ({error.strerror})") from error

    @contextmanager
    def _locked(self) -> Iterator[None]:
        """Keep other launches waiting; the lock is another file, since this one is replaced."""
        try:
            self.file.parent.mkdir(parents=True, exist_ok=True)
            with self.file.with_suffix(".lock").open("ab") as lock:
                _wait_for(lock.fileno())
                yield
        except OSError as error:
            raise RecordTrouble(f"{self.file}: cannot be written ({error.strerror})") from error


def _wait_for(lock: int) -> None:
    deadline = time.monotonic() + LOCK_WAIT_S
    while True:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.01)
        else:
            return
