"""CodeBuild's projects, which moto keeps, and builds of them that run."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from moto.codebuild.exceptions import ResourceNotFoundException
from moto.codebuild.models import CodeBuildBackend
from moto.moto_api._internal import mock_random

from localaws.codebuild.build import Build


class RunningCodeBuildBackend(CodeBuildBackend):
    """CodeBuild of one account and region."""

    def __init__(self, region_name: str, account_id: str) -> None:
        super().__init__(region_name, account_id)
        self.builds: dict[str, Build] = {}
        self.builds_by_token: dict[str, str] = {}

    @property
    def _url_module(self) -> Any:
        from moto.codebuild import urls

        return urls

    def run_build(self, request: Mapping[str, Any]) -> Build:
        """Start a build, or return the one of the same idempotency token."""
        token = str(request.get("idempotencyToken", ""))
        if token in self.builds_by_token:
            return self.build(self.builds_by_token[token])
        name = request["projectName"]
        project = self.codebuild_projects[name].project_metadata
        build = Build(
            id=f"{name}:{mock_random.uuid4()}",
            region=self.region_name,
            source=project["source"],
            source_version=request["sourceVersion"],
            variables={
                each["name"]: each["value"]
                for each in request.get("environmentVariablesOverride", ())
            },
            log_group=_log_group(project),
        )
        self.builds[build.id] = build
        self.build_history[name].append(build.id)
        if token:
            self.builds_by_token[token] = build.id
        build.start()
        return build

    def build(self, build_id: str) -> Build:
        if build_id not in self.builds:
            raise ResourceNotFoundException(f"Build {build_id} does not exist")
        found = self.builds[build_id]
        found.look()
        return found


def _log_group(project: Mapping[str, Any]) -> str:
    chosen = project.get("logsConfig", {}).get("cloudWatchLogs", {}).get("groupName")
    return chosen or f"/aws/codebuild/{project['name']}"
