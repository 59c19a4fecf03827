"""A copy of data as the launcher sends it (training/data/on/ec2.py writes it), version 1.

It is submitted, found again, listed and stopped as a job, and takes no worker.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, ClassVar

from .request import RULES, Rule, checked
from .state import STAGING

KIND = "stage"

MOST_ARGUMENTS = 100


@dataclass(frozen=True)
class StagingRequest:
    """What is to run on the head, in the image or environment of the first-party trainer."""

    version: int
    kind: str
    name: str
    fingerprint: str
    image: str | None
    """None: it runs in the node's virtual environment."""
    arguments: list[str]
    """Of the entry point."""
    hyperparameters: Mapping[str, str]
    log: str
    """The run folder."""
    max_run_s: int

    algorithm: ClassVar[str] = STAGING
    resume: ClassVar[bool] = False
    """A copy that was stopped goes on as another run: what is there says how far it is."""
    queue: ClassVar[bool] = True
    """It waits for no job, and none for it."""

    def to_json(self) -> dict[str, Any]:
        return {field.name: getattr(self, field.name) for field in fields(self)}


def parse_staging(document: Any) -> StagingRequest:
    """Read a request.

    Raises:
        Refused: Of kind usage; the message names the field, what it holds and what it may hold.
    """
    names = {field.name for field in fields(StagingRequest)}
    return StagingRequest(**checked(document, names, _RULES))


def _are_arguments(value: Any) -> bool:
    return (
        isinstance(value, list)
        and 0 < len(value) <= MOST_ARGUMENTS
        and all(isinstance(each, str) and "\0" not in each for each in value)
        # The entry point has other commands, which are not for the head alone.
        and value[0] == "data"
    )


_SHARED = ("name", "fingerprint", "image", "hyperparameters", "log", "max_run_s")

_RULES: dict[str, Rule] = {
    "kind": (lambda value: value == KIND, KIND),
    "arguments": (_are_arguments, f'a list of "data" and up to {MOST_ARGUMENTS - 1} texts'),
    **{name: RULES[name] for name in _SHARED},
}
