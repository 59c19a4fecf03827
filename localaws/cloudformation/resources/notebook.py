"""SageMaker's notebook instances, their lifecycle configurations and Git repositories."""

from __future__ import annotations

from typing import Any, Self

from localaws.cloudformation import tags
from localaws.cloudformation.aws import Aws
from localaws.cloudformation.resource import Properties, Resource, changed, only

_NAME_LIMIT = 63


class NotebookInstance(Resource):
    """A notebook instance."""

    TYPE = "AWS::SageMaker::NotebookInstance"
    NAME_PROPERTY = "NotebookInstanceName"
    NAME_LIMIT = _NAME_LIMIT

    @classmethod
    def create(cls, aws: Aws, name: str, properties: Properties) -> Self:
        arn = aws.client("sagemaker").create_notebook_instance(
            NotebookInstanceName=name,
            **_settings(properties),
            **only(
                properties,
                ("SubnetId", "SecurityGroupIds", "KmsKeyId", "DirectInternetAccess", "Tags"),
            ),
        )["NotebookInstanceArn"]
        return cls(arn, NotebookInstanceArn=arn, NotebookInstanceName=name)

    def update(self, aws: Aws, old: Properties, new: Properties) -> None:
        sagemaker = aws.client("sagemaker")
        if set(changed(old, new)) - {"Tags"}:
            self._change_settings(sagemaker, old, new)
        _set_tags(sagemaker, self.physical_resource_id, old, new)

    def _change_settings(self, sagemaker: Any, old: Properties, new: Properties) -> None:
        name = self.attributes["NotebookInstanceName"]
        # Only a stopped one can change; one that its user has stopped stays so.
        runs = self._describe(sagemaker)["NotebookInstanceStatus"] == "InService"
        if runs:
            sagemaker.stop_notebook_instance(NotebookInstanceName=name)
        try:
            sagemaker.update_notebook_instance(
                NotebookInstanceName=name, **_settings(new), **_dropped(old, new)
            )
        finally:
            if runs:
                sagemaker.start_notebook_instance(NotebookInstanceName=name)

    def _describe(self, sagemaker: Any) -> dict[str, Any]:
        described: dict[str, Any] = sagemaker.describe_notebook_instance(
            NotebookInstanceName=self.attributes["NotebookInstanceName"]
        )
        return described

    def read(self, aws: Aws) -> Properties:
        sagemaker = aws.client("sagemaker")
        shown = self._describe(sagemaker)
        given = sagemaker.list_tags(ResourceArn=self.physical_resource_id)["Tags"]
        return {
            **only(shown, (*_SAME_NAME, "VolumeSizeInGB", "SubnetId", "KmsKeyId")),
            "DirectInternetAccess": shown["DirectInternetAccess"],
            "SecurityGroupIds": shown["SecurityGroups"],
            "LifecycleConfigName": shown.get("NotebookInstanceLifecycleConfigName"),
            "Tags": given,
        }

    def delete(self, aws: Aws) -> None:
        sagemaker, name = aws.client("sagemaker"), self.attributes["NotebookInstanceName"]
        if self._describe(sagemaker)["NotebookInstanceStatus"] == "InService":
            sagemaker.stop_notebook_instance(NotebookInstanceName=name)
        sagemaker.delete_notebook_instance(NotebookInstanceName=name)


_SAME_NAME = (
    "InstanceType",
    "RoleArn",
    "PlatformIdentifier",
    "RootAccess",
    "LifecycleConfigName",
    "DefaultCodeRepository",
    "AdditionalCodeRepositories",
    "AcceleratorTypes",
    "InstanceMetadataServiceConfiguration",
)


def _settings(properties: Properties) -> dict[str, Any]:
    """Return what both a creation and an update take."""
    settings = only(properties, _SAME_NAME)
    if "VolumeSizeInGB" in properties:
        settings["VolumeSizeInGB"] = int(properties["VolumeSizeInGB"])
    return settings


_DISASSOCIATIONS = {
    "LifecycleConfigName": "DisassociateLifecycleConfig",
    "DefaultCodeRepository": "DisassociateDefaultCodeRepository",
    "AdditionalCodeRepositories": "DisassociateAdditionalCodeRepositories",
    "AcceleratorTypes": "DisassociateAcceleratorTypes",
}

_DEFAULTS: dict[str, Any] = {
    "RootAccess": "Enabled",
    "InstanceMetadataServiceConfiguration": {"MinimumInstanceMetadataServiceVersion": "1"},
}


def _dropped(old: Properties, new: Properties) -> dict[str, Any]:
    """Return what takes back the properties that a template no longer has."""
    gone = old.keys() - new.keys()
    flags = {flag: True for name, flag in _DISASSOCIATIONS.items() if name in gone}
    return flags | only(_DEFAULTS, gone)


class NotebookInstanceLifecycleConfig(Resource):
    """The scripts of a notebook instance."""

    TYPE = "AWS::SageMaker::NotebookInstanceLifecycleConfig"
    NAME_PROPERTY = "NotebookInstanceLifecycleConfigName"
    NAME_LIMIT = _NAME_LIMIT

    @classmethod
    def create(cls, aws: Aws, name: str, properties: Properties) -> Self:
        arn = aws.client("sagemaker").create_notebook_instance_lifecycle_config(
            NotebookInstanceLifecycleConfigName=name,
            **only(properties, ("OnCreate", "OnStart", "Tags")),
        )["NotebookInstanceLifecycleConfigArn"]
        return cls(
            arn,
            NotebookInstanceLifecycleConfigArn=arn,
            NotebookInstanceLifecycleConfigName=name,
        )

    def update(self, aws: Aws, old: Properties, new: Properties) -> None:
        sagemaker = aws.client("sagemaker")
        sagemaker.update_notebook_instance_lifecycle_config(
            NotebookInstanceLifecycleConfigName=self.attributes[self.NAME_PROPERTY],
            OnCreate=new.get("OnCreate", []),
            OnStart=new.get("OnStart", []),
        )
        _set_tags(sagemaker, self.physical_resource_id, old, new)

    def read(self, aws: Aws) -> Properties:
        shown = aws.client("sagemaker").describe_notebook_instance_lifecycle_config(
            NotebookInstanceLifecycleConfigName=self.attributes[self.NAME_PROPERTY]
        )
        return only(shown, ("OnCreate", "OnStart"))

    def delete(self, aws: Aws) -> None:
        aws.client("sagemaker").delete_notebook_instance_lifecycle_config(
            NotebookInstanceLifecycleConfigName=self.attributes[self.NAME_PROPERTY]
        )


class CodeRepository(Resource):
    """A Git repository for notebook instances."""

    TYPE = "AWS::SageMaker::CodeRepository"
    NAME_PROPERTY = "CodeRepositoryName"
    NAME_LIMIT = _NAME_LIMIT

    @classmethod
    def create(cls, aws: Aws, name: str, properties: Properties) -> Self:
        arn = aws.client("sagemaker").create_code_repository(
            CodeRepositoryName=name, **only(properties, ("GitConfig", "Tags"))
        )["CodeRepositoryArn"]
        return cls(arn, CodeRepositoryArn=arn, CodeRepositoryName=name)

    def update(self, aws: Aws, old: Properties, new: Properties) -> None:
        sagemaker = aws.client("sagemaker")
        sagemaker.update_code_repository(
            CodeRepositoryName=self.attributes[self.NAME_PROPERTY],
            GitConfig=only(new["GitConfig"], ("SecretArn",)),
        )
        _set_tags(sagemaker, self.physical_resource_id, old, new)

    def read(self, aws: Aws) -> Properties:
        shown = aws.client("sagemaker").describe_code_repository(
            CodeRepositoryName=self.attributes[self.NAME_PROPERTY]
        )
        return only(shown, ("GitConfig",))

    def delete(self, aws: Aws) -> None:
        aws.client("sagemaker").delete_code_repository(
            CodeRepositoryName=self.attributes[self.NAME_PROPERTY]
        )


def _set_tags(sagemaker: Any, arn: str, old: Properties, new: Properties) -> None:
    gone, wanted = tags.difference(old, new)
    if gone:
        sagemaker.delete_tags(ResourceArn=arn, TagKeys=gone)
    if wanted:
        sagemaker.add_tags(ResourceArn=arn, Tags=wanted)
