"""SageMaker's operations on notebooks, answered in the shapes of its service model."""

from __future__ import annotations

import json
from typing import Any, cast

from moto.core.responses import ActionResult, EmptyResult
from moto.sagemaker.responses import SageMakerResponse

from localaws.sagemaker.backend import SageMakerBackend


class NotebookResponse(SageMakerResponse):
    """One method an operation; moto finds it by the operation's name."""

    @property
    def _notebooks(self) -> SageMakerBackend:
        return cast(SageMakerBackend, self.sagemaker_backend)

    @property
    def _request(self) -> dict[str, Any]:
        request: dict[str, Any] = json.loads(self.body)
        return request

    def create_notebook_instance(self) -> ActionResult:
        made = self._notebooks.make_notebook(self._request)
        return ActionResult({"NotebookInstanceArn": made.arn})

    def update_notebook_instance(self) -> ActionResult:
        self._notebooks.change_notebook(self._request)
        return EmptyResult()

    def create_notebook_instance_lifecycle_config(self) -> ActionResult:
        made = self._notebooks.make_lifecycle_config(self._request)
        return ActionResult({"NotebookInstanceLifecycleConfigArn": made.arn})

    def describe_notebook_instance_lifecycle_config(self) -> ActionResult:
        name = self._request["NotebookInstanceLifecycleConfigName"]
        return ActionResult(self._notebooks.lifecycle_config(name).to_dict())

    def update_notebook_instance_lifecycle_config(self) -> ActionResult:
        request = self._request
        name = request["NotebookInstanceLifecycleConfigName"]
        self._notebooks.lifecycle_config(name).update(request)
        return EmptyResult()

    def list_notebook_instance_lifecycle_configs(self) -> ActionResult:
        configs = self._notebooks.notebook_instance_lifecycle_configurations
        return ActionResult({"NotebookInstanceLifecycleConfigs": self._named(configs)})

    def create_code_repository(self) -> ActionResult:
        made = self._notebooks.make_code_repository(self._request)
        return ActionResult({"CodeRepositoryArn": made.arn})

    def describe_code_repository(self) -> ActionResult:
        name = self._request["CodeRepositoryName"]
        return ActionResult(self._notebooks.code_repository(name).to_dict())

    def update_code_repository(self) -> ActionResult:
        request = self._request
        repository = self._notebooks.code_repository(request["CodeRepositoryName"])
        repository.update(request)
        return ActionResult({"CodeRepositoryArn": repository.arn})

    def delete_code_repository(self) -> ActionResult:
        name = self._request["CodeRepositoryName"]
        self._notebooks.code_repository(name)
        del self._notebooks.code_repositories[name]
        return EmptyResult()

    def list_code_repositories(self) -> ActionResult:
        repositories = self._notebooks.code_repositories
        return ActionResult({"CodeRepositorySummaryList": self._named(repositories)})

    def _named(self, items: dict[str, Any]) -> list[dict[str, Any]]:
        """Return those whose name has what the request looks for; all on one page."""
        part = self._request.get("NameContains", "")
        return [item.to_dict() for name, item in sorted(items.items()) if part in name]
