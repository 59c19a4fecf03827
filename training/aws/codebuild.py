"""Builds that AWS runs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from training.aws.request import ask

SUCCEEDED = "SUCCEEDED"
IN_PROGRESS = "IN_PROGRESS"
"""Of a build; what else there is (FAILED, FAULT, TIMED_OUT, STOPPED) are ways to fail.

https://docs.aws.amazon.com/codebuild/latest/APIReference/API_Build.html
"""


@dataclass(frozen=True)
class Build:
    """One build, as it was when it was asked for."""

    id: str
    status: str
    phase: str
    log_group: str | None
    log_stream: str | None
    """None until the build has begun to write."""
    problem: str | None
    """What the phase that failed says of it."""


class CodeBuild:
    """AWS CodeBuild."""

    def __init__(self, client: Any) -> None:
        self._client = client

    def start(self, project: str, *, source_version: str, variables: Mapping[str, str]) -> Build:
        """Start a build.

        Args:
            project: Its name.
            source_version: The version of the source's object on S3.
            variables: Of the environment, in plain text.
        """
        answer = ask(
            self._client,
            "start_build",
            projectName=project,
            sourceVersion=source_version,
            environmentVariablesOverride=[
                {"name": name, "value": value, "type": "PLAINTEXT"}
                for name, value in variables.items()
            ],
            # The same request, sent again after a lost answer, starts no second build.
            idempotencyToken=source_version,
        )
        return _read(answer["build"])

    def build(self, build_id: str) -> Build:
        """Return how a build is."""
        (found,) = ask(self._client, "batch_get_builds", ids=[build_id])["builds"]
        return _read(found)

    def stop(self, build_id: str) -> None:
        """Stop a build."""
        ask(self._client, "stop_build", id=build_id)


def _read(build: Mapping[str, Any]) -> Build:
    logs = build.get("logs", {})
    messages = [
        context["message"]
        for phase in build.get("phases", ())
        if phase.get("phaseStatus") not in (None, SUCCEEDED)
        for context in phase.get("contexts", ())
        if context.get("message")
    ]
    return Build(
        id=build["id"],
        status=build["buildStatus"],
        phase=build.get("currentPhase", ""),
        log_group=logs.get("groupName"),
        log_stream=logs.get("streamName"),
        problem=messages[0] if messages else None,
    )
