"""CodeBuild's operations on builds, in the shapes of its service model."""

from __future__ import annotations

import json
from typing import Any, cast

from moto.codebuild.exceptions import ResourceNotFoundException
from moto.codebuild.responses import CodeBuildResponse
from moto.core.responses import ActionResult

from localaws.codebuild.backend import RunningCodeBuildBackend
from localaws.codebuild.build import Build


class BuildResponse(CodeBuildResponse):
    """One method an operation; moto finds it by the operation's name."""

    @property
    def _backend(self) -> RunningCodeBuildBackend:
        return cast(RunningCodeBuildBackend, self.codebuild_backend)

    @property
    def _request(self) -> dict[str, Any]:
        request: dict[str, Any] = json.loads(self.body)
        return request

    def start_build(self) -> ActionResult:
        name = self._request["projectName"]
        if name not in self._backend.codebuild_projects:
            raise ResourceNotFoundException(f"Project cannot be found: {name}")
        return ActionResult({"build": _shown(self._backend.run_build(self._request))})

    def batch_get_builds(self) -> ActionResult:
        there = self._backend.builds
        found = [self._backend.build(name) for name in self._request["ids"] if name in there]
        missing = [name for name in self._request["ids"] if name not in there]
        return ActionResult({"builds": list(map(_shown, found)), "buildsNotFound": missing})

    def stop_build(self) -> ActionResult:
        build = self._backend.build(self._request["id"])
        build.stop()
        return ActionResult({"build": _shown(build)})


def _shown(build: Build) -> dict[str, Any]:
    is_complete = build.ended_s is not None
    phases: list[dict[str, Any]] = [{"phaseType": build.phase}]
    if is_complete:
        phases[0] |= {
            "phaseStatus": build.status,
            **({"contexts": [{"message": build.problem}]} if build.problem else {}),
        }
    return {
        "id": build.id,
        "buildStatus": build.status,
        "currentPhase": build.phase,
        "buildComplete": is_complete,
        "startTime": build.started_s,
        **({"endTime": build.ended_s} if is_complete else {}),
        "sourceVersion": build.source_version,
        "projectName": build.id.partition(":")[0],
        "phases": phases,
        "logs": {"groupName": build.log_group, "streamName": build.log_stream},
    }
