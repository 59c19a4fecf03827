"""AWS::CodeBuild::Project."""

from __future__ import annotations

from typing import Any, Self

from localaws.cloudformation.aws import Aws
from localaws.cloudformation.resource import Properties, Resource, camel, only

_SETTINGS = (
    "Artifacts",
    "Cache",
    "Description",
    "EncryptionKey",
    "Environment",
    "LogsConfig",
    "QueuedTimeoutInMinutes",
    "ServiceRole",
    "TimeoutInMinutes",
)


class BuildProject(Resource):
    """A project of CodeBuild."""

    TYPE = "AWS::CodeBuild::Project"
    NAME_PROPERTY = "Name"
    NAME_LIMIT = 149

    @classmethod
    def create(cls, aws: Aws, name: str, properties: Properties) -> Self:
        project = aws.client("codebuild").create_project(name=name, **_settings(properties))
        return cls(name, Arn=project["project"]["arn"])

    def update(self, aws: Aws, old: Properties, new: Properties) -> None:
        codebuild = aws.client("codebuild")
        # moto knows no UpdateProject; a project holds nothing but its settings.
        codebuild.delete_project(name=self.physical_resource_id)
        codebuild.create_project(name=self.physical_resource_id, **_settings(new))

    def read(self, aws: Aws) -> Properties | None:
        (found,) = aws.client("codebuild").batch_get_projects(names=[self.physical_resource_id])[
            "projects"
        ]
        return {
            "Description": found.get("description"),
            "ServiceRole": found["serviceRole"],
            "TimeoutInMinutes": found["timeoutInMinutes"],
            "QueuedTimeoutInMinutes": found["queuedTimeoutInMinutes"],
        }

    def delete(self, aws: Aws) -> None:
        aws.client("codebuild").delete_project(name=self.physical_resource_id)


def _settings(properties: Properties) -> dict[str, Any]:
    # CloudFormation spells it BuildSpec, the API buildspec; numbers come as texts.
    source = {
        ("buildspec" if key == "buildSpec" else key): value
        for key, value in camel(properties["Source"]).items()
    }
    return {
        **camel(only(properties, _SETTINGS)),
        "source": source,
        "tags": camel(properties.get("Tags", [])),
        **{
            key[:1].lower() + key[1:]: int(properties[key])
            for key in ("QueuedTimeoutInMinutes", "TimeoutInMinutes")
            if key in properties
        },
    }
