"""FSx's operations, answered in the shapes of its service model."""

from __future__ import annotations

import json
from typing import Any, cast

from moto.core.responses import ActionResult
from moto.fsx.responses import FSxResponse

from localaws.fsx.association import Association
from localaws.fsx.backend import LustreBackend
from localaws.fsx.tasks import Task

_PAGE = 100


class LustreResponse(FSxResponse):
    """One method an operation; moto finds it by the operation's name."""

    @property
    def _lustre(self) -> LustreBackend:
        return cast(LustreBackend, self.fsx_backend)

    @property
    def _request(self) -> dict[str, Any]:
        request: dict[str, Any] = json.loads(self.body)
        return request

    def create_file_system(self) -> ActionResult:  # type: ignore[override]
        return ActionResult({"FileSystem": self._lustre.make_file_system(self._request).to_dict()})

    def describe_file_systems(self) -> ActionResult:  # type: ignore[override]
        ids = self._request.get("FileSystemIds") or list(self._lustre.file_systems)
        found = [self._lustre.file_system(each).to_dict() for each in ids]
        return ActionResult(self._page("FileSystems", found))

    def update_file_system(self) -> ActionResult:
        changed = self._lustre.change_file_system(self._request)
        return ActionResult({"FileSystem": changed.to_dict()})

    def delete_file_system(self) -> ActionResult:  # type: ignore[override]
        file_system_id = self._request["FileSystemId"]
        self._lustre.unmake_file_system(file_system_id)
        return ActionResult({"FileSystemId": file_system_id, "Lifecycle": "DELETING"})

    def create_data_repository_association(self) -> ActionResult:
        made = self._lustre.associate(self._request)
        return ActionResult({"Association": self._describe(made)})

    def describe_data_repository_associations(self) -> ActionResult:
        request = self._request
        ids = request.get("AssociationIds") or list(self._lustre.associations)
        wanted = _filter_values(request, "file-system-id")
        found = [
            self._describe(association)
            for association in map(self._lustre.association, ids)
            if wanted is None or association.repository.file_system_id in wanted
        ]
        return ActionResult(self._page("Associations", found))

    def update_data_repository_association(self) -> ActionResult:
        request = self._request
        association = self._lustre.association(request["AssociationId"])
        association.policies = request.get("S3", association.policies)
        association.chunk_size_mib = request.get(
            "ImportedFileChunkSize", association.chunk_size_mib
        )
        return ActionResult({"Association": self._describe(association)})

    def delete_data_repository_association(self) -> ActionResult:
        request = self._request
        association_id = request["AssociationId"]
        self._lustre.association(association_id)
        del self._lustre.associations[association_id]
        return ActionResult(
            {
                "AssociationId": association_id,
                "Lifecycle": "DELETING",
                "DeleteDataInFileSystem": request.get("DeleteDataInFileSystem", False),
            }
        )

    def create_data_repository_task(self) -> ActionResult:
        task = self._lustre.run_task(self._request)
        return ActionResult({"DataRepositoryTask": task.to_dict()})

    def describe_data_repository_tasks(self) -> ActionResult:
        request = self._request
        ids = request.get("TaskIds") or list(self._lustre.tasks)
        systems = _filter_values(request, "file-system-id")
        lifecycles = _filter_values(request, "task-lifecycle")
        found = [
            task.to_dict()
            for task in map(self._lustre.task, ids)
            if _matches(task, systems, lifecycles)
        ]
        return ActionResult(self._page("DataRepositoryTasks", found))

    def cancel_data_repository_task(self) -> ActionResult:
        task = self._lustre.cancel_task(self._request["TaskId"])
        return ActionResult({"TaskId": task.task_id, "Lifecycle": "CANCELING"})

    def _describe(self, association: Association) -> dict[str, Any]:
        return association.to_dict(self._lustre.list_tags_for_resource(association.arn))

    def _page(self, name: str, items: list[dict[str, Any]]) -> dict[str, Any]:
        """Return one page of a list; the token is the number of items before the next one."""
        request = self._request
        start = int(request.get("NextToken") or 0)
        end = start + int(request.get("MaxResults") or _PAGE)
        page: dict[str, Any] = {name: items[start:end]}
        if end < len(items):
            page["NextToken"] = str(end)
        return page


def _matches(task: Task, systems: list[str] | None, lifecycles: list[str] | None) -> bool:
    return (systems is None or task.file_system_id in systems) and (
        lifecycles is None or task.lifecycle in lifecycles
    )


def _filter_values(request: dict[str, Any], name: str) -> list[str] | None:
    """Return the values of a filter, or None where it is not given."""
    for each in request.get("Filters") or []:
        if each["Name"] == name:
            values: list[str] = each["Values"]
            return values
    return None
