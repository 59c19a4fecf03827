"""The name of a job on the cluster."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import ClassVar

from training.aws.logs import Logs
from training.preflight.check import Check
from training.preflight.finding import Finding, Severity


@dataclass(frozen=True)
class NameIsNew(Check):
    """The cluster's log group has no lines of a job of this name.

    The head node has the last word: it knows the same request, sent once more, for its own.
    """

    codes: ClassVar[Mapping[str, Severity]] = {"job-name-used": "warning"}
    actions: ClassVar[tuple[str, ...]] = ("logs:DescribeLogStreams",)

    logs: Logs
    group_name: str
    name: str

    def find(self) -> Iterator[Finding]:
        if self.logs.streams(self.group_name, f"{self.name}/"):
            yield self.found(
                "job-name-used",
                "name",
                f"a job {self.name} has run on the cluster: the head node refuses another of this "
                "name. Give another --name, or go on from its checkpoint with --resume",
            )
