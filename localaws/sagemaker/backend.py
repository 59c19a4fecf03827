"""SageMaker's state in one region, with notebooks and training jobs of our own."""

from __future__ import annotations

import threading
from types import ModuleType
from typing import Any

from moto.logs.models import logs_backends
from moto.sagemaker import urls
from moto.sagemaker.exceptions import ResourceInUseException, ValidationError
from moto.sagemaker.models import SageMakerModelBackend
from moto.sagemaker.utils import arn_formatter

from localaws.sagemaker.code_repository import CodeRepository
from localaws.sagemaker.dependencies import Dependencies
from localaws.sagemaker.lifecycle import LifecycleConfig
from localaws.sagemaker.notebook import NotebookInstance
from localaws.sagemaker.training_job import TrainingJob

TRAINING_LOGS = "/aws/sagemaker/TrainingJobs"

_WRITING = threading.Lock()
"""Requests are answered side by side, and a line is written once."""

Tags = list[dict[str, str]]


class SageMakerBackend(SageMakerModelBackend):
    """moto's, with training jobs, notebook instances and what belongs to those replaced."""

    training_jobs: dict[str, Any]
    notebook_instances: dict[str, Any]
    notebook_instance_lifecycle_configurations: dict[str, Any]

    def __init__(self, region_name: str, account_id: str) -> None:
        super().__init__(region_name, account_id)
        self.code_repositories: dict[str, CodeRepository] = {}

    @property
    def _url_module(self) -> ModuleType:
        return urls

    def _arn(self, kind: str, name: str) -> str:
        return str(arn_formatter(kind, name, self.account_id, self.region_name))

    @property
    def _dependencies(self) -> Dependencies:
        return Dependencies(self.account_id, self.region_name)

    def make_notebook(self, request: dict[str, Any]) -> NotebookInstance:
        """Make a notebook instance; it is in service at once.

        Raises:
            ValidationError: The name is taken, a value is wrong, or something is not there.
        """
        name = request["NotebookInstanceName"]
        self._validate_unique_notebook_instance_name(name)
        made = NotebookInstance(name, self._arn("notebook-instance", name), request)
        self._check(request)
        if subnet := request.get("SubnetId"):
            groups = request.get("SecurityGroupIds") or []
            made.network_interface_id = self._dependencies.join(name, subnet, groups)
        self.notebook_instances[name] = made
        return made

    def change_notebook(self, request: dict[str, Any]) -> None:
        notebook: Any = self.get_notebook_instance(request["NotebookInstanceName"])
        self._check(request)
        notebook.update(request)

    def delete_notebook_instance(self, notebook_instance_name: str) -> None:
        notebook: Any = self.get_notebook_instance(notebook_instance_name)
        super().delete_notebook_instance(notebook_instance_name)
        if notebook.network_interface_id:
            self._dependencies.leave(notebook.network_interface_id)

    def _check(self, request: dict[str, Any]) -> None:
        self._dependencies.check(request)
        if lifecycle := request.get("LifecycleConfigName"):
            self.lifecycle_config(lifecycle)
        repositories = [request.get("DefaultCodeRepository")]
        repositories += request.get("AdditionalCodeRepositories") or []
        for repository in repositories:
            # By its name here, or by its address anywhere.
            if repository and not repository.startswith("https://"):
                self.code_repository(repository)

    def make_lifecycle_config(self, request: dict[str, Any]) -> LifecycleConfig:
        name = request["NotebookInstanceLifecycleConfigName"]
        arn = self._arn("notebook-instance-lifecycle-config", name)
        if name in self.notebook_instance_lifecycle_configurations:
            raise ValidationError(
                message=f"Unable to create Notebook Instance Lifecycle Config {arn}. (Details: "
                "Notebook Instance Lifecycle Config already exists.)"
            )
        made = LifecycleConfig(name, arn, request)
        self.notebook_instance_lifecycle_configurations[name] = made
        return made

    def lifecycle_config(self, name: str) -> LifecycleConfig:
        """Return a lifecycle configuration.

        Raises:
            ValidationError: There is none of this name.
        """
        found = self.notebook_instance_lifecycle_configurations.get(name)
        if found is None:
            arn = self._arn("notebook-instance-lifecycle-config", name)
            raise ValidationError(
                message=f"Unable to describe Notebook Instance Lifecycle Config '{arn}'. "
                "(Details: Notebook Instance Lifecycle Config does not exist.)"
            )
        assert isinstance(found, LifecycleConfig)
        return found

    def make_code_repository(self, request: dict[str, Any]) -> CodeRepository:
        name = request["CodeRepositoryName"]
        arn = self._arn("code-repository", name)
        if name in self.code_repositories:
            raise ValidationError(message=f"Cannot create already existing CodeRepository ({arn})")
        self.code_repositories[name] = CodeRepository(name, arn, request)
        return self.code_repositories[name]

    def code_repository(self, name: str) -> CodeRepository:
        """Return a Git repository.

        Raises:
            ValidationError: There is none of this name.
        """
        if name not in self.code_repositories:
            raise ValidationError(message=f'Cannot find CodeRepository "{name}"')
        return self.code_repositories[name]

    def make_training_job(self, request: dict[str, Any]) -> TrainingJob:
        """Make a training job; it begins at once, and ends by itself.

        Raises:
            ResourceInUseException: The name is taken.
        """
        name = request["TrainingJobName"]
        arn = self._arn("training-job", name)
        if name in self.training_jobs:
            # In the words of the service:
            # https://github.com/SuperCowPowers/workbench/issues/384
            raise ResourceInUseException(
                message="Training job names must be unique within an AWS account and region, and a "
                f"training job with this name already exists ({arn})"
            )
        self.training_jobs[name] = TrainingJob(name, arn, request)
        return self.training_job(name)

    def training_job(self, name: str) -> TrainingJob:
        """Return a training job.

        Raises:
            ValidationError: There is none of this name.
        """
        found = self.training_jobs.get(name)
        if found is None:
            # In the words of the service: https://github.com/aws/aws-sdk/issues/165
            raise ValidationError(message="Requested resource not found.")
        assert isinstance(found, TrainingJob)
        return found

    def keep_lines_of_jobs(self) -> None:
        """Give CloudWatch what training jobs have written by now."""
        logs = logs_backends[self.account_id][self.region_name]
        with _WRITING:
            for job in self.training_jobs.values():
                lines = list(job.lines())
                for line in lines[job.lines_kept :]:
                    logs.ensure_log_group(TRAINING_LOGS)
                    logs.ensure_log_stream(TRAINING_LOGS, line.stream)
                    event = {"timestamp": int(line.time_s * 1000), "message": line.text}
                    logs.put_log_events(TRAINING_LOGS, line.stream, [event])
                job.lines_kept = len(lines)

    def _get_resource_from_arn(self, arn: str) -> Any:
        kind, _, name = arn.rsplit(":", maxsplit=1)[-1].partition("/")
        if kind == "notebook-instance-lifecycle-config":
            return self.lifecycle_config(name)
        if kind == "code-repository":
            return self.code_repository(name)
        return super()._get_resource_from_arn(arn)

    def add_tags(self, arn: str, tags: Tags) -> Tags:
        # moto would keep the old value of a key beside the new one.
        self.delete_tags(arn, [tag["Key"] for tag in tags])
        return super().add_tags(arn, tags)
