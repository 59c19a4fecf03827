"""SageMaker's operations on notebooks and training jobs, in the shapes of its service model."""

from __future__ import annotations

import json
from typing import Any, cast

from moto.core.responses import ActionResult, EmptyResult
from moto.sagemaker.responses import SageMakerResponse

from localaws.sagemaker.backend import SageMakerBackend
from localaws.sagemaker.job_list import list_jobs


class SageMakerOperations(SageMakerResponse):
    """One method an operation; moto finds it by the operation's name."""

    @property
    def _sagemaker(self) -> SageMakerBackend:
        return cast(SageMakerBackend, self.sagemaker_backend)

    @property
    def _request(self) -> dict[str, Any]:
        request: dict[str, Any] = json.loads(self.body)
        return request

    def create_training_job(self) -> ActionResult:
        made = self._sagemaker.make_training_job(self._request)
        return ActionResult({"TrainingJobArn": made.arn})

    def describe_training_job(self) -> ActionResult:
        name = self._request["TrainingJobName"]
        return ActionResult(self._sagemaker.training_job(name).to_dict())

    def stop_training_job(self) -> ActionResult:
        self._sagemaker.training_job(self._request["TrainingJobName"]).stop()
        return EmptyResult()

    def list_training_jobs(self) -> ActionResult:
        return ActionResult(list_jobs(self._sagemaker.training_jobs.values(), self._request))

    def create_notebook_instance(self) -> ActionResult:
        made = self._sagemaker.make_notebook(self._request)
        return ActionResult({"NotebookInstanceArn": made.arn})

    def update_notebook_instance(self) -> ActionResult:
        self._sagemaker.change_notebook(self._request)
        return EmptyResult()

    def create_notebook_instance_lifecycle_config(self) -> ActionResult:
        made = self._sagemaker.make_lifecycle_config(self._request)
        return ActionResult({"NotebookInstanceLifecycleConfigArn": made.arn})

    def describe_notebook_instance_lifecycle_config(self) -> ActionResult:
        name = self._request["NotebookInstanceLifecycleConfigName"]
        return ActionResult(self._sagemaker.lifecycle_config(name).to_dict())

    def update_notebook_instance_lifecycle_config(self) -> ActionResult:
        request = self._request
        name = request["NotebookInstanceLifecycleConfigName"]
        self._sagemaker.lifecycle_config(name).update(request)
        return EmptyResult()

    def list_notebook_instance_lifecycle_configs(self) -> ActionResult:
        configs = self._sagemaker.notebook_instance_lifecycle_configurations
        return ActionResult({"NotebookInstanceLifecycleConfigs": self._named(configs)})

    def create_code_repository(self) -> ActionResult:
        made = self._sagemaker.make_code_repository(self._request)
        return ActionResult({"CodeRepositoryArn": made.arn})

    def describe_code_repository(self) -> ActionResult:
        name = self._request["CodeRepositoryName"]
        return ActionResult(self._sagemaker.code_repository(name).to_dict())

    def update_code_repository(self) -> ActionResult:
        request = self._request
        repository = self._sagemaker.code_repository(request["CodeRepositoryName"])
        repository.update(request)
        return ActionResult({"CodeRepositoryArn": repository.arn})

    def delete_code_repository(self) -> ActionResult:
        name = self._request["CodeRepositoryName"]
        self._sagemaker.code_repository(name)
        del self._sagemaker.code_repositories[name]
        return EmptyResult()

    def list_code_repositories(self) -> ActionResult:
        repositories = self._sagemaker.code_repositories
        return ActionResult({"CodeRepositorySummaryList": self._named(repositories)})

    def _named(self, items: dict[str, Any]) -> list[dict[str, Any]]:
        """Return those whose name has what the request looks for; all on one page."""
        part = self._request.get("NameContains", "")
        return [item.to_dict() for name, item in sorted(items.items()) if part in name]
